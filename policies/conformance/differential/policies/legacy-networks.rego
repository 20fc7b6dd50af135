# Written before Rego v1, with a built-in that is deprecated.
package networks

deny["the inner network"] {
	net.cidr_overlap("10.0.0.0/8", input.request.parameters.host)
}
