package baseline.local_models_test

import data.baseline.local_models

call(action, permissions) := {
	"agent": {"permissions": permissions},
	"request": {"mcp_server": "localmodel-proxy", "tool_name": "localmodel-api", "action": action},
}

test_allows_with_both_permissions if {
	every permissions in [["web:read", "web:write"], ["web:*"], ["*:*"], ["w*:read", "*:write"]] {
		local_models.allow with input as call("write", permissions)
		count(local_models.deny) == 0 with input as call("write", permissions)
	}
}

test_names_what_is_missing if {
	local_models.deny == {"local models need the permission web:write"} with input as call("write", ["web:read"])
	local_models.deny == {"local models need the permission web:read"} with input as call("write", ["web:write"])
	not local_models.allow with input as call("write", ["web:read"])
}

test_denies_what_only_another_permission_covers if {
	permissions := ["localmodel-proxy:*", "mail:write"]
	count(local_models.deny) == 2 with input as call("write", permissions)
	not local_models.allow with input as call("write", permissions)
}

test_a_list_needs_to_read if {
	local_models.allow with input as call("read", ["web:read"])
	count(local_models.deny) == 1 with input as call("read", ["web:write"])
}

test_a_call_without_an_action_needs_both if {
	permissions := ["web:read"]
	count(local_models.deny) == 1 with input as {"agent": {"permissions": permissions}, "request": {"mcp_server": "localmodel-proxy"}}
}

test_leaves_other_servers if {
	request := {"mcp_server": "web", "tool_name": "fetch", "action": "write"}
	count(local_models.deny) == 0 with input as {"agent": {"permissions": []}, "request": request}
	not local_models.allow with input as {"agent": {"permissions": ["web:*"]}, "request": request}
}
