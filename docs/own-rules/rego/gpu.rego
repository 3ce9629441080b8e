package main

import rego.v1

# A fact is {"value": …}, {"unknown": cause} or null.
known(fact) := fact.value

deny contains message if {
	some resource in input.resources
	known(resource.accelerator).name == "H100-80GB"
	known(resource.purpose) == "interactive"
	message := sprintf("%s: interactive work on H100 (%s:%d)", [resource.address, resource.path, resource.line])
}

deny contains message if {
	some resource in input.resources
	monthly := resource.price.usd_per_month.ceiling
	monthly > 50000
	not resource.labels["cost-center"]
	message := sprintf("%s: up to $%d/month without a cost center", [resource.address, round(monthly)])
}
