//! Defines names and types of all facts that rules can read.

use std::fmt;
use std::sync::Arc;

/// Value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum FactValue {
    Text(Arc<str>),
    Integer(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Arc<str>>),
}

impl FactValue {
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        FactValue::Text(text.into())
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            FactValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            FactValue::Integer(n) => Some(*n as f64),
            FactValue::Number(n) => Some(*n),
            _ => None,
        }
    }

    pub fn as_flag(&self) -> Option<bool> {
        match self {
            FactValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Converts the value to a type if nothing is lost: `"8"` to 8, `8` to 8.0, `"true"` to true, a string to a list.
    pub fn conform(self, to: ValueType) -> Option<FactValue> {
        Some(match (to, self) {
            (ValueType::Text, FactValue::Integer(n)) => FactValue::text(n.to_string()),
            (ValueType::Text, FactValue::Number(n)) => FactValue::text(n.to_string()),
            (ValueType::Text, FactValue::Flag(flag)) => FactValue::text(flag.to_string()),
            (ValueType::Integer, FactValue::Text(text)) => FactValue::Integer(text.trim().parse().ok()?),
            (ValueType::Integer, FactValue::Number(n)) if n.fract() == 0.0 && n.abs() < 9e15 => {
                FactValue::Integer(n as i64)
            }
            (ValueType::Number, FactValue::Integer(n)) => FactValue::Number(n as f64),
            (ValueType::Number, FactValue::Text(text)) => {
                FactValue::Number(text.trim().parse().ok().filter(|n: &f64| n.is_finite())?)
            }
            (ValueType::Flag, FactValue::Text(text)) => match &*text.to_ascii_lowercase() {
                "true" | "1" | "on" | "yes" => FactValue::Flag(true),
                "false" | "0" | "off" | "no" => FactValue::Flag(false),
                _ => return None,
            },
            (ValueType::Flag, FactValue::Integer(n)) => FactValue::Flag(n != 0),
            (ValueType::List, FactValue::Text(text)) => FactValue::List(vec![text]),
            (to, value) if value.is(to) => value,
            _ => return None,
        })
    }

    fn is(&self, of: ValueType) -> bool {
        matches!(
            (of, self),
            (ValueType::Text, FactValue::Text(_))
                | (ValueType::Integer, FactValue::Integer(_))
                | (ValueType::Number, FactValue::Number(_))
                | (ValueType::Flag, FactValue::Flag(_))
                | (ValueType::List, FactValue::List(_))
        )
    }
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Text(text) => f.write_str(text),
            FactValue::Integer(n) => write!(f, "{n}"),
            FactValue::Number(n) => write!(f, "{n}"),
            FactValue::Flag(flag) => write!(f, "{flag}"),
            FactValue::List(items) => f.write_str(&items.join(", ")),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    Text,
    Integer,
    Number,
    Flag,
    List,
}

impl ValueType {
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Text => "string",
            ValueType::Integer => "int",
            ValueType::Number => "double",
            ValueType::Flag => "bool",
            ValueType::List => "list(string)",
        }
    }
}

macro_rules! keys {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal $type:ident;)+) => {
        /// Keys of all facts of a resource. Resource definitions, rule files, `inspect` and `gpulint facts` use this
        /// one table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Key { $($variant),+ }

        impl Key {
            pub const ALL: &'static [Key] = &[$(Key::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Key::$variant => $name),+ }
            }

            pub fn named(name: &str) -> Option<Key> {
                match name { $($name => Some(Key::$variant),)+ _ => None }
            }

            pub fn value_type(self) -> ValueType {
                match self { $(Key::$variant => ValueType::$type),+ }
            }

            pub fn meaning(self) -> &'static str {
                match self { $(Key::$variant => concat!($($meaning),+).trim_ascii()),+ }
            }
        }
    };
}

keys! {
    // Identity and hardware
    /// Provider that rents out the machine: aws, gcp, azure, oci, ...
    Provider "provider" Text;
    /// Region that determines the price, without the letter of a zone.
    Region "region" Text;
    /// Machine type as the cloud bills it.
    Machine "machine" Text;
    /// Canonical name of the accelerator.
    Accelerator "accelerator" Text;
    /// Vendor of the accelerator: nvidia, amd, google, aws, intel, ...
    Vendor "vendor" Text;
    /// Number of accelerators of one machine (rented) or one pod (requested). A fraction if pods share one device.
    AcceleratorCount "accelerator_count" Number;
    /// Memory of one whole accelerator in GiB.
    AcceleratorMemory "accelerator_memory_gib" Number;
    /// Layout of the chips of a slice: 2x2x4.
    Topology "topology" Text;
    /// Setting that places its machines close together: a placement group or a compact policy.
    Placement "placement" Text;
    /// Network of its machines for training over several machines: efa, infiniband or rdma.
    Interconnect "interconnect" Text;
    /// EFA network interfaces that a pod requests, for training over several AWS machines. 0 if the machine lists its
    /// interfaces and none is EFA.
    EfaInterfaces "efa_interfaces" Number;
    /// Number of zones over which its machines are spread.
    Zones "zones" Integer;
    /// Reason why such a machine does not exist: the machine type does not support the accelerator.
    Impossible "impossible" Text;
    /// Reason why it holds its accelerators while idle: its command sleeps, people work in it, or it waits for jobs.
    Kept "kept" Text;
    /// True if it can run any number of times at the same time: a definition of a job, or a command that starts one.
    Repeats "repeats" Flag;
    /// True if a run of its schedule waits for the earlier one, or replaces it.
    OneAtATime "one_at_a_time" Flag;
    /// Setting that limits the accelerators of the pool, such as `spec.limits`.
    LimitSetting "limit_setting" Text;
    /// Accelerators that all pods of its namespace may request together.
    QuotaAccelerators "quota_accelerators" Number;
    /// Accelerators that all pods of its queue may use together.
    QueueAccelerators "queue_accelerators" Number;
    /// True if the idle servers of people are not stopped.
    SessionsStay "sessions_stay" Flag;
    /// True if it only lists its accelerators or tests them briefly: `nvidia-smi`, or a sum of two vectors.
    OnlyLooks "only_looks" Flag;
    /// True if its containers with accelerators only sleep.
    OnlySleeps "only_sleeps" Flag;
    /// Requested slice of an accelerator: a MIG profile such as 1g.10gb.
    Slice "slice" Text;
    /// Number of pods that share one accelerator by time-slicing or MPS.
    SharedBy "shared_by" Number;
    /// How several pods share one accelerator that is not partitioned: time-slicing or mps.
    Sharing "sharing" Text;
    /// Processor architecture of the machine, as container images name it: amd64 or arm64.
    Processor "processor" Text;
    /// True if one copy runs on each matching node: a DaemonSet.
    OnEachNode "on_each_node" Flag;
    /// Virtual CPUs of the machine (rented), or requested by the pod (requested).
    Cpus "cpus" Number;
    /// Maximum number of CPUs that the pod may use.
    CpuLimit "cpu_limit" Number;
    /// Memory of the machine (rented), or requested by the pod (requested), in GiB.
    Memory "memory_gib" Number;
    /// Accelerators of the machine on which a pod runs.
    NodeAccelerators "node_accelerators" Number;
    /// Most accelerators that the pods of the files request from a pool at once.
    AskedAccelerators "asked_accelerators" Number;
    /// Virtual CPUs of the machine on which a pod runs.
    NodeCpus "node_cpus" Number;
    /// Memory of the machine on which a pod runs, in GiB.
    NodeMemory "node_memory_gib" Number;

    /// Total size of the disks of each machine in GiB. Not set if the files omit the size of a disk.
    DiskGib "disk_gib" Number;
    /// Number of machines that its block creates by `count`, including this one. Not set for a single machine.
    Instances "instances" Integer;
    /// Volumes and file systems in use that are billed separately, each with its size if known.
    Volumes "volumes" List;
    /// Disks of its Terraform root that nothing attaches, each with its size if known. The first machine of a root has
    /// them.
    UnusedDisks "unused_disks" List;
    /// Monthly limit in dollars of the cloud budget for everything in its Terraform root. The first machine of a root
    /// has it.
    CloudBudget "cloud_budget_usd" Number;
    /// Software whose license is billed in addition to the machine: windows, rhel, suse, grid or Databricks (DBUs).
    Licence "licence" Text;

    // Purchase
    /// Service that bills its processors, memory and accelerators one by one: cloud-run, or cloud-run-zonal if a second
    /// zone keeps an accelerator ready. Or the seller's cloud, if each has its own prices: secure or community.
    BilledAs "billed_as" Text;
    /// Way of buying: on-demand, spot, reserved (a commitment), capacity-reservation (at the on-demand price),
    /// capacity-block, calendar, flex-start, dedicated-host, mixed, spot-or-on-demand or on-prem.
    Purchase "purchase" Text;
    /// With mixed purchase: number of machines that are always on demand.
    OnDemandBase "on_demand_base" Integer;
    /// With mixed purchase: share of the machines above the base that is spot, from 0 to 1.
    SpotShare "spot_share" Number;
    /// True if the product is available on spot.
    SpotOffered "spot_offered" Flag;
    /// Number of machine types that it may use, if they are listed.
    MachineTypes "machine_types" Integer;
    /// True if it accepts several machine types.
    Flexible "flexible" Flag;
    /// Strategy by which the provider selects spot machines, in the provider's own terms.
    AllocationStrategy "allocation_strategy" Text;
    /// Effect of an eviction on the machine, in the provider's own terms.
    EvictionPolicy "eviction_policy" Text;
    /// Another pool next to it with the same accelerator, where exactly one of the two is on spot.
    Twin "twin" Text;
    /// Reservation, with the machines that may use it: open or targeted.
    Reservation "reservation" Text;
    /// Number of pools and machines in the files that use a reservation.
    Consumers "consumers" Integer;
    /// Number of machines that a reservation pays for.
    Reserved "reserved" Number;
    /// Share of the on-demand price that unused capacity of a reservation costs, if less than all of it.
    UnusedShare "unused_share" Number;
    /// Share of its price that a reservation without an end date costs while it does not run.
    HeldShare "held_share" Number;
    /// Length of the commitment in years.
    CommitmentYears "commitment_years" Number;
    /// Maximum price for a spot machine in dollars per hour.
    MaxPrice "max_price_usd" Number;
    /// Maximum price for a spot machine as a share of the on-demand price.
    MaxPriceShare "max_price_share" Number;
    /// Tenancy of the hardware: dedicated if no other customer's machines run on it.
    Tenancy "tenancy" Text;

    // Purpose
    /// Purpose: training, batch, inference, interactive, ci, graphics, test or infra.
    Purpose "purpose" Text;
    /// True if only a fast network between machines suggests its purpose.
    PurposeOfNetwork "purpose_of_network" Flag;
    /// True if its labels or names mark it as production.
    Production "production" Flag;
    /// True if a label marks it as work with a deadline.
    DeadlineBound "deadline_bound" Flag;

    // Duration
    /// Idle minutes after which it is stopped.
    IdleMinutes "idle_minutes" Number;
    /// Mechanism that stops it at set times: a schedule, a policy or an alarm.
    Schedule "schedule" Text;
    /// Times at which it starts repeatedly, as the five fields of cron.
    Cron "cron" Text;
    /// Number of pods that must succeed before it is complete.
    Completions "completions" Number;
    /// Maximum duration in seconds.
    TimeLimit "time_limit_seconds" Number;
    /// Maximum duration of each pod in seconds.
    PodTimeLimit "pod_time_limit_seconds" Number;
    /// Number of times that failed work starts again.
    Retries "retries" Integer;
    /// True if failed work starts again, as often as `retries` sets or without a limit.
    Retried "retried" Flag;
    /// True if unused machines are removed. False if an autoscaler is configured to remove none.
    ScaleDown "scale_down" Flag;
    /// True if its desired number stays until a person or a program changes it.
    KeepsDesired "keeps_desired" Flag;
    /// True if its machines stay after its work is done.
    Lingers "lingers" Flag;
    /// True if it is a search: many trials of one training with different settings.
    Search "search" Flag;
    /// Maximum number of trials of a search.
    Trials "trials" Integer;
    /// True if a search stops bad trials early.
    EarlyStopping "early_stopping" Flag;
    /// Queue that admits it.
    Queue "queue" Text;
    /// True if a queue for such work is defined in the same directory.
    QueueHere "queue_here" Flag;
    /// What starts its pods only together: a queue, a scheduler or a pod group.
    Gang "gang" Text;
    /// Priority class of its pods.
    Priority "priority" Text;
    /// True if priority classes are defined in the same directory.
    PriorityHere "priority_here" Flag;
    /// True if its processes can share more memory than a container has by default.
    SharedMemory "shared_memory" Flag;
    /// Seconds after its start at which a probe restarts a container that does not answer yet.
    StartupSeconds "startup_seconds" Number;
    /// Volume of its model cache: emptyDir (deleted with the pod), node (stays on the machine) or volume (outlives
    /// both).
    ModelCache "model_cache" Text;
    /// Seconds after its end at which it is removed.
    Ttl "ttl_seconds" Number;
    /// True if an autoscaler sets its number by demand.
    Autoscaled "autoscaled" Flag;
    /// Metrics that an autoscaler uses: cpu, memory, or the name of another metric.
    AutoscaledOn "autoscaled_on" List;
    /// Seconds that an autoscaler waits before it scales down.
    Cooldown "cooldown_seconds" Number;
    /// True if it exists only while its work runs: a job, a task, or a pool that a scheduler fills.
    EndsByItself "ends_by_itself" Flag;

    // Workload
    /// Serving or training program: vllm, sglang, tgi, torchrun, ...
    Program "program" Text;
    /// Declared model.
    Model "model" Text;
    /// Task of the program: serve, embed, diffusion, speech or train.
    Task "task" Text;
    /// Precision of the weights: bf16, fp8, int8, awq, nf4, ...
    Precision "precision" Text;
    /// Precision of the KV cache, if it differs from that of the weights.
    CachePrecision "cache_precision" Text;
    /// Tokens of context that the cache holds.
    Context "context" Integer;
    /// Number of sequences or samples at a time.
    BatchSize "batch_size" Integer;
    /// True if new requests join a batch that is running.
    ContinuousBatching "continuous_batching" Flag;
    /// True if a common beginning of many requests is computed once.
    PrefixCache "prefix_cache" Flag;
    /// Share of accelerator memory that the program may use, from 0 to 1.
    MemoryUtilization "memory_utilization" Number;
    /// Number of GPUs that share one layer.
    TensorParallel "tensor_parallel" Integer;
    /// Number of stages over which the layers are spread.
    PipelineParallel "pipeline_parallel" Integer;
    /// Number of copies of the model.
    DataParallel "data_parallel" Integer;
    /// Number of GPUs over which experts are spread.
    ExpertParallel "expert_parallel" Integer;
    /// Number of pods or machines that run one copy of the model together.
    GroupSize "group_size" Integer;
    /// Minimum number of such groups.
    Groups "groups" Integer;
    /// Program that finds further machines for one copy of the model, in addition to those in the files: ray.
    Spread "spread" Text;
    /// Training method: full, lora or qlora.
    Method "method" Text;
    /// Training optimizer: adamw, adamw8bit, lion, adafactor, ...
    Optimizer "optimizer" Text;
    /// Sharding of training: ddp, fsdp, zero1, zero2, zero3 or megatron.
    Sharding "sharding" Text;
    /// True if training recomputes activations.
    Recompute "recompute" Flag;
    /// Part of the model or the optimizer that is stored on the host.
    Offload "offload" Text;
    /// Place to which training writes its checkpoints.
    Checkpoint "checkpoint" Text;
    /// Network file system that it mounts: nfs, efs, filestore, azure-files or smb.
    DataStorage "data_storage" Text;
    /// Place of its checkpoints, if they are lost with its machine.
    CheckpointLost "checkpoint_lost" Text;
    /// Interval between checkpoints, in the unit of the program; `no` if it writes none.
    CheckpointInterval "checkpoint_interval" Text;
    /// Number of processes that load data for each GPU.
    DataWorkers "data_workers" Integer;
    /// Number of processes that a launcher starts in one pod or machine, one for each GPU that it uses.
    Processes "processes" Integer;
    /// Declared size of the model in billions of parameters.
    Parameters "parameters_b" Number;
    /// Tokens that all replicas generate together on a usual day.
    TokensPerDay "tokens_per_day" Number;
    /// Number of tokens of a usual prompt.
    PromptTokens "input_tokens" Number;
    /// Number of tokens of a usual answer.
    AnswerTokens "output_tokens" Number;
    /// Maximum milliseconds from a request to the first token of its answer, on average.
    MsToFirstToken "ttft_ms" Number;
    /// Maximum milliseconds between two tokens of an answer that users accept.
    MsPerToken "ms_per_token" Number;
    /// Requests per second that all replicas must answer together within these limits.
    RequestsPerSecond "requests_per_second" Number;
    /// Requests, pictures or other answers of all replicas together on a usual day.
    RequestsPerDay "requests_per_day" Number;
    /// Number of people who have a seat on it.
    Seats "seats" Number;
    /// True if its data must not be given to other companies.
    PrivateData "private_data" Flag;
    /// Tokens that one training run reads: all machines and pods together, including those that its block creates by
    /// `count`.
    TrainTokens "train_tokens" Number;
    /// Container image of the program, as the files name it.
    Image "image" Text;
    /// Declared size of the container image in GiB, compressed as a registry lists it.
    ImageGib "image_gib" Number;
    /// Declared seconds from the start of a container or program until it works.
    ColdStartSeconds "cold_start_seconds" Number;
    /// Declared starts of all its replicas together, per month.
    StartsPerMonth "starts_per_month" Number;
    /// Declared minutes between two checkpoints.
    CheckpointMinutes "checkpoint_minutes" Number;
    /// Declared interruptions of each machine per month.
    InterruptionsPerMonth "interruptions_per_month" Number;
    /// Smaller model that drafts tokens, in memory next to the main one.
    DraftModel "draft_model" Text;

    // Usage metrics from `gpulint-usage.csv`
    /// Measured mean share of the time in which its accelerators worked.
    MeasuredBusy "measured_busy" Number;
    /// Measured peak share of the time in which its accelerators worked.
    MeasuredBusyMax "measured_busy_max" Number;
    /// Measured share of five-minute points at which its accelerators did nothing.
    MeasuredIdle "measured_idle" Number;
    /// Measured mean share of an accelerator's units that worked.
    MeasuredUnits "measured_units" Number;
    /// Measured peak memory of one accelerator in GiB. Unknown for programs that allocate all memory when they start.
    MeasuredMemory "measured_memory_gib" Number;
    /// Measured peak share of a server's cache in use.
    MeasuredCache "measured_cache" Number;
    /// Measured hours of all its accelerators in the window.
    MeasuredHours "measured_gpu_hours" Number;
    /// Measured days of the window on which it was seen.
    MeasuredDays "measured_days" Number;
    /// Days of the measurement window, whether or not it was seen.
    MeasuredWindowDays "measured_window_days" Number;
    /// Measured requests per second.
    MeasuredRequests "measured_requests" Number;
    /// Measured tokens per second.
    MeasuredTokens "measured_tokens" Number;
    /// Measured peak number of requests that ran at once, of all replicas together.
    MeasuredRunning "measured_running" Number;
    /// Measured peak number of waiting requests.
    MeasuredWaiting "measured_waiting" Number;
    /// Measured number of requests that were preempted because memory was missing.
    MeasuredPreemptions "measured_preemptions" Number;
    /// Measured mean number of pods or machines over time.
    MeasuredReplicas "measured_replicas" Number;
    /// Measured share of the machines' accelerator hours in which no pod held the accelerator.
    MeasuredUnallocated "measured_unallocated" Number;
    /// Measured number of runs that ended in the window.
    MeasuredRuns "measured_runs" Number;
    /// Measured share of the accelerator hours that ended in failed runs.
    MeasuredFailed "measured_failed" Number;
    /// Measured mean hours from the submission of a run to its start.
    MeasuredWait "measured_wait_hours" Number;
    /// Measured: whether it ran in the window. False only if the metric covered its place.
    MeasuredSeen "measured_seen" Flag;
    /// Measurement window and the share of its hours that is covered, as text.
    MeasuredWindow "measured_window" Text;
    /// Metric that was measured, as its rows name it: `dcgm:GR_ENGINE_ACTIVE`.
    MeasuredSource "measured_source" Text;

    // The bill from `gpulint-paid.csv`, for the last month that has ended
    /// Billed dollars for its use in that month, after all discounts, with its share of commitments.
    PaidMonthly "paid_monthly" Number;
    /// Billed use in that month at the bill's list prices, in dollars.
    PaidListMonthly "paid_list_monthly" Number;
    /// Billed hours of all its machines together.
    PaidHours "paid_hours" Number;
    /// Share of the billed hours that a commitment covered.
    PaidCommittedShare "paid_committed_share" Number;
    /// Number of machines that commitments covered, as an average over all hours of that month.
    PaidCommitted "paid_committed" Number;
    /// Share of the billed hours that ran on spot.
    PaidSpotShare "paid_spot_share" Number;
    /// Billed dollars for its use in the current month so far.
    PaidSoFar "paid_so_far" Number;
    /// Days of the current month that the bill contains.
    PaidDays "paid_days" Number;
    /// Month of the bill, as in 2026-10.
    PaidMonth "paid_month" Text;
}
