package governance.lib_test

import data.governance.lib

write := {"mcp_server": "files", "tool_name": "write_file", "action": "write"}

covering := {
	"files:write",
	"files/write_file:write",
	"write_file:write",
	"files:*",
	"*:write",
	"*:*",
	"files/*:write",
	"*/write_file:write",
	"write_*:write",
	"files:wr*te",
	"*i*e*s:write",
	"f*/w*_f*:w*",
}

not_covering := {
	"files:read",
	"file:write",
	"files/:write",
	"files/write:write",
	"mail/*:write",
	"mail:*",
	"*",
	"files",
	"",
	":",
	":write",
	"files:",
	"files:write:read",
	"f?les:write",
	"f[a-z]les:write",
	"{files,mail}:write",
	"f?*l*s:write",
	"[f]*l*s:write",
	"{f*l*s}:write",
	"files*files:write",
	"FILES:write",
}

test_covering if {
	every permission in covering {
		lib.permission_covers(permission, write)
	}
}

test_not_covering if {
	every permission in not_covering {
		not lib.permission_covers(permission, write)
	}
}

test_resource_with_colon if {
	lib.permission_covers("urn:files:read", {"mcp_server": "urn:files", "tool_name": "x", "action": "read"})
}

test_signs_are_literal if {
	lib.permission_covers("a?{b}[c]\\*x*:read", {"mcp_server": "a?{b}[c]\\1x2", "tool_name": "x", "action": "read"})
}

test_allowed_by_any_permission if {
	lib.allowed({"permissions": ["mail:read", "files:write"]}, write)
}

test_allowed_by_none if {
	not lib.allowed({"permissions": ["mail:read", "files:read"]}, write)
	not lib.allowed({"permissions": []}, write)
	not lib.allowed({}, write)
}

test_stars_reach_over_line_breaks if {
	lib.permission_covers("f*/*x*:read", {"mcp_server": "f\n1", "tool_name": "\nx\n", "action": "read"})
}

test_the_end_of_a_quotation_is_a_sign if {
	lib.permission_covers(`a\E.*b*\\E\:read`, {"mcp_server": `a\E.b\\E\`, "tool_name": "x", "action": "read"})
	not lib.permission_covers(`a\E.*b*\\E\:read`, {"mcp_server": `a\Exb\\E\`, "tool_name": "x", "action": "read"})
}
