//! Writes the rule file that `gpulint rules new` writes.

/// Returns a rule file with examples; `scope` is the value of `for`.
pub fn template(name: &str, scope: &str) -> String {
    let (front, what, examples) = match scope {
        "object" => OBJECT,
        "block" => BLOCK,
        "repository" => REPOSITORY,
        "change" => CHANGE,
        _ => RESOURCE,
    };
    format!(
        "---\n\
         name: {name}\n\
         level: warning # error, warning or note; a note never fails a run\n\
         {front}---\n\
         # {name}\n\n\
         {what}\n\n\
         ## Why\n\n\
         Explain the problem, and name the team to ask.\n\n\
         ## Examples\n\n\
         `gpulint rules test` runs every example. A line that ends with `# <- reported` must have a finding. A line that ends\n\
         with `# <- undetermined` must have an unknown result. All other lines must have no finding.\n\n\
         {examples}"
    )
}

/// Front matter, the first sentence, and the examples.
type Starter = (&'static str, &'static str, &'static str);

const RESOURCE: Starter = (
    "params:
  most_gpus: 4 # set another value under `[rules.NAME]` in gpulint.toml
when: accelerator_count > params.most_gpus # reported if true; `gpulint facts` lists the facts to use here
at: [accelerator_count, machine] # the line to point at: the first of these that the files set
message: \"{gpus} together, limit {params.most_gpus}\"
help: \"request at most {params.most_gpus}\"
fix: # what `gpulint check --fix --unsafe-fixes` writes; remove it if a person must decide
  set: { accelerator_count: \"{params.most_gpus}\" }
  safety: unsafe # safe: changes nothing that runs; unsafe: changes it; display: shown only
",
    "A machine or pod has more accelerators than the limit.",
    "### Reported

```hcl
resource \"aws_instance\" \"large\" {
  instance_type = \"p4d.24xlarge\" # <- reported
}
```

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: large
spec:
  containers:
    - name: main
      resources:
        limits:
          nvidia.com/gpu: 8 # <- reported
```

The fix sets the pod's request to four. A machine has as many as its type, so a person must change it:

```fixed file=manifest.yaml
apiVersion: v1
kind: Pod
metadata:
  name: large
spec:
  containers:
    - name: main
      resources:
        limits:
          nvidia.com/gpu: 4
```

### Clean

```hcl
resource \"aws_instance\" \"small\" {
  instance_type = \"g5.xlarge\"
}
```

### Undetermined

The value of this variable is unknown:

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: asked
spec:
  containers:
    - name: main
      resources:
        limits:
          nvidia.com/gpu: ${GPUS} # <- undetermined
```
",
);

const OBJECT: Starter = (
    "for: object # every manifest, with or without accelerators
match: { kind: Namespace }
when: \"!has(object.metadata.labels.team)\" # reported if true; `object` is the manifest as written
at: object.metadata.name # the line to point at
message: \"{object.metadata.name} has no label `team`\"
help: \"add it under metadata.labels\"
",
    "A namespace has no label that names its team.",
    "### Reported

```yaml
apiVersion: v1
kind: Namespace
metadata:
  name: search # <- reported
```

### Clean

```yaml
apiVersion: v1
kind: Namespace
metadata:
  name: search
  labels:
    team: search
```

### Undetermined

Another program fills in this value, so it is unknown:

```yaml
apiVersion: v1
kind: Namespace
metadata:
  name: asked # <- undetermined
  labels: ${LABELS}
```
",
);

const BLOCK: Starter = (
    "for: block # every Terraform resource, data source and module call, with or without accelerators
match: { kind: aws_sagemaker_notebook_instance }
when: block.direct_internet_access != 'Disabled' # reported if true; `block` has the evaluated attributes
at: block.direct_internet_access # the line to point at; the first line of the block if it is missing
message: \"{address} can be reached from the internet\"
help: \"set direct_internet_access = \\\"Disabled\\\"\"
",
    "A notebook is public.",
    "### Reported

```hcl
resource \"aws_sagemaker_notebook_instance\" \"open\" { # <- reported
  name          = \"open\"
  instance_type = \"ml.t3.medium\"
}
```

### Clean

```hcl
resource \"aws_sagemaker_notebook_instance\" \"closed\" {
  name                   = \"closed\"
  instance_type          = \"ml.t3.medium\"
  direct_internet_access = \"Disabled\"
}
```

### Undetermined

The value of this variable is unknown:

```hcl
variable \"access\" {}

resource \"aws_sagemaker_notebook_instance\" \"asked\" {
  name                   = \"asked\"
  instance_type          = \"ml.t3.medium\"
  direct_internet_access = var.access # <- undetermined
}
```
",
);

const REPOSITORY: Starter = (
    "for: repository # once, with all `resources`, `objects` and `blocks`
params:
  most_machines: 1
when: resources.filter(it, it.machine == 'p4d.24xlarge').size() > params.most_machines # reported if true
message: \"{resources.filter(it, it.machine == 'p4d.24xlarge').size()} large machines, limit {params.most_machines}\"
help: \"remove unused machines\"
",
    "The repository provisions more large machines than the limit.",
    "### Reported

```hcl
resource \"aws_instance\" \"a\" { # <- reported
  instance_type = \"p4d.24xlarge\"
}

resource \"aws_instance\" \"b\" {
  instance_type = \"p4d.24xlarge\"
}
```

### Clean

```hcl
resource \"aws_instance\" \"only\" {
  instance_type = \"p4d.24xlarge\"
}
```

### Undetermined

The condition is unknown, so either machine type is possible:

```hcl
variable \"large\" {}

resource \"aws_instance\" \"first\" {
  instance_type = \"p4d.24xlarge\"
}

resource \"aws_instance\" \"asked\" {
  instance_type = var.large ? \"p4d.24xlarge\" : \"g5.xlarge\" # <- undetermined
}
```
",
);

const CHANGE: Starter = (
    "for: change # once per `gpulint diff`: `delta` is the effect of the change on cost
params:
  most_usd: 1000 # dollars per month that one change may add
when: delta.rented.expected > double(params.most_usd) # reported if true
message: \"the change adds {delta.rented.expected | usd}/month of machines, limit {params.most_usd | usd}\"
help: \"make the change smaller, or get approval for the cost\"
",
    "A change adds more machines than the limit without approval.",
    "### Reported

The files before and after the change:

```hcl before
resource \"aws_instance\" \"train\" {
  instance_type = \"g5.xlarge\"
}
```

```hcl after
resource \"aws_instance\" \"train\" { # <- reported
  instance_type = \"p4d.24xlarge\"
}
```

### Clean

```hcl before
resource \"aws_instance\" \"train\" {
  instance_type = \"p4d.24xlarge\"
}
```

```hcl after
resource \"aws_instance\" \"train\" {
  instance_type = \"g5.xlarge\"
}
```

### Undetermined

Without a machine type, the cost of the machine is unknown:

```hcl before
variable \"type\" {}
```

```hcl after
variable \"type\" {}

resource \"aws_instance\" \"train\" {
  instance_type = var.type # <- undetermined
}
```
",
);
