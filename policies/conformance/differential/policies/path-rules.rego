# Paths are compared after their separators are made one.
package paths

path := regex.replace(regex.replace(input.request.resource, `[\\/]+`, "/"), `/\./`, "/")

deny contains sprintf("%s leaves its folder", [path]) if contains(path, "/../")

deny contains sprintf("protected: %v", [path]) if {
	some prefix in ["/etc/", "/usr/local/etc/", "/root/"]
	startswith(path, prefix)
	input.request.action != "read"
}

escalate contains path if {
	input.request.action == "write"
	glob.match("/srv/**.{env,pem,key}", ["/"], path)
}

allow if {
	startswith(path, "/srv/")
	input.request.action in {"read", "write"}
}
