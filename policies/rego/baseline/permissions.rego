# METADATA
# title: Permissions
# description: An agent may make the calls that one of its permissions covers.
package baseline.permissions

import data.governance.lib

allow if lib.allowed(input.agent, input.request)
