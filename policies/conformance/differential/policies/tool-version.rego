# Old versions of a tool are refused, unreleased ones held.
package versions

version := input.request.parameters.version

minimum := {"deploy": "2.4.0", "query": "1.0.0-rc.1"}

deny contains sprintf("%s %s is older than %s", [input.request.tool_name, version, wanted]) if {
	wanted := minimum[input.request.tool_name]
	semver.is_valid(version)
	semver.compare(version, wanted) < 0
}

deny contains sprintf("%q is no version", [version]) if {
	is_string(version)
	not semver.is_valid(version)
}

escalate contains sprintf("pre-release %v", [version]) if {
	semver.is_valid(version)
	semver.compare(version, regex.replace(version, `[-+].*$`, "")) < 0
}

allow if {
	semver.compare(version, minimum[input.request.tool_name]) >= 0
	input.request.action != "delete"
}
