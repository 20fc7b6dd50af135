# What the scan found decides.
package dlp

deny contains sprintf("%d findings: %s", [input.dlp.findings_count, concat(", ", input.dlp.patterns)]) if {
	input.dlp.max_severity == "critical"
}

escalate contains sprintf("findings %v", [{pattern | some pattern in input.dlp.patterns}]) if {
	input.dlp.max_severity in {"high", "medium"}
	input.request.action != "read"
}
