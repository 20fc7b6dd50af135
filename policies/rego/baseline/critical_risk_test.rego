package baseline.critical_risk_test

import data.baseline.critical_risk

call(tier, action) := {"agent": {"risk_tier": tier}, "request": {"action": action}}

test_denies_an_agent_of_critical_risk if {
	every action in ["write", "delete", "execute", "new"] {
		critical_risk.deny == {"an agent of critical risk may only read"} with input as call("critical", action)
	}
}

test_denies_a_call_without_an_action if {
	count(critical_risk.deny) == 1 with input as {"agent": {"risk_tier": "critical"}, "request": {}}
}

test_lets_an_agent_of_critical_risk_read if {
	count(critical_risk.deny) == 0 with input as call("critical", "read")
}

test_leaves_other_agents if {
	every tier in ["low", "medium", "high"] {
		count(critical_risk.deny) == 0 with input as call(tier, "delete")
	}
}
