package baseline.destructive_calls_test

import data.baseline.destructive_calls

call(tier, action) := {
	"agent": {"risk_tier": tier},
	"request": {"action": action, "tool_name": "remove_file"},
}

test_escalates_a_high_risk_agents_deletion if {
	destructive_calls.escalate == {"a high-risk agent asks for the destructive call remove_file"} with input as call("high", "delete")
}

test_leaves_other_calls_of_a_high_risk_agent if {
	every action in ["read", "write", "execute"] {
		count(destructive_calls.escalate) == 0 with input as call("high", action)
	}
}

test_leaves_other_agents if {
	every tier in ["low", "medium"] {
		count(destructive_calls.escalate) == 0 with input as call(tier, "delete")
	}
}
