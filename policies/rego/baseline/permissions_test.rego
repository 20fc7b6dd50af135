package baseline.permissions_test

import data.baseline.permissions

request := {"mcp_server": "files", "tool_name": "read_file", "action": "read"}

test_allows_what_a_permission_covers if {
	permissions.allow with input as {"agent": {"permissions": ["mail:*", "files:read"]}, "request": request}
}

test_allows_no_other_action if {
	not permissions.allow with input as {"agent": {"permissions": ["files:write"]}, "request": request}
}

test_allows_no_other_server if {
	not permissions.allow with input as {"agent": {"permissions": ["mail:read"]}, "request": request}
}

test_allows_nothing_without_permissions if {
	not permissions.allow with input as {"agent": {"permissions": []}, "request": request}
	not permissions.allow with input as {}
}
