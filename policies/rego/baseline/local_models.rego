# METADATA
# title: Local models
# description: |
#   Who talks to a local model needs web:read and web:write; who lists the models, web:read. Without
#   them the call is denied, whatever other permission covers it.
package baseline.local_models

import data.governance.lib

allow if {
	of_local_models
	count(missing) == 0
}

deny contains reason if {
	of_local_models
	some permission in missing
	reason := concat(" ", ["local models need the permission", permission])
}

of_local_models if input.request.mcp_server == "localmodel-proxy"

missing contains concat(":", ["web", action]) if {
	some action in needed
	not lib.allowed(input.agent, {"mcp_server": "web", "tool_name": "localmodel-api", "action": action})
}

needed contains "read"

needed contains "write" if not input.request.action == "read"
