//! The names of all facts that rules may read, with their types.

use std::fmt;
use std::sync::Arc;

/// The value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(Arc<str>),
    Integer(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Arc<str>>),
}

impl Value {
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Value::Text(text.into())
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Integer(n) => Some(*n as f64),
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    pub fn as_flag(&self) -> Option<bool> {
        match self {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The value as this type, converted where nothing is lost: `"8"` is 8, `8` is 8.0, `"true"` is true, one text is a list.
    pub fn conform(self, to: ValueType) -> Option<Value> {
        Some(match (to, self) {
            (ValueType::Text, Value::Integer(n)) => Value::text(n.to_string()),
            (ValueType::Text, Value::Number(n)) => Value::text(n.to_string()),
            (ValueType::Text, Value::Flag(flag)) => Value::text(flag.to_string()),
            (ValueType::Integer, Value::Text(text)) => Value::Integer(text.trim().parse().ok()?),
            (ValueType::Integer, Value::Number(n)) if n.fract() == 0.0 && n.abs() < 9e15 => Value::Integer(n as i64),
            (ValueType::Number, Value::Integer(n)) => Value::Number(n as f64),
            (ValueType::Number, Value::Text(text)) => {
                Value::Number(text.trim().parse().ok().filter(|n: &f64| n.is_finite())?)
            }
            (ValueType::Flag, Value::Text(text)) => match &*text.to_ascii_lowercase() {
                "true" | "1" | "on" | "yes" => Value::Flag(true),
                "false" | "0" | "off" | "no" => Value::Flag(false),
                _ => return None,
            },
            (ValueType::Flag, Value::Integer(n)) => Value::Flag(n != 0),
            (ValueType::List, Value::Text(text)) => Value::List(vec![text]),
            (to, value) if value.is(to) => value,
            _ => return None,
        })
    }

    fn is(&self, of: ValueType) -> bool {
        matches!(
            (of, self),
            (ValueType::Text, Value::Text(_))
                | (ValueType::Integer, Value::Integer(_))
                | (ValueType::Number, Value::Number(_))
                | (ValueType::Flag, Value::Flag(_))
                | (ValueType::List, Value::List(_))
        )
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Number(n) => write!(f, "{n}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::List(items) => f.write_str(&items.join(", ")),
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
        /// Names the facts that a resource may have. One table: rows, rule pages, `inspect` and `gpulint facts` read it.
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
    // What it is and where
    /// Who rents it out: aws, gcp, azure, oci, ...
    Provider "provider" Text;
    /// The region that prices it, without the letter of a zone.
    Region "region" Text;
    /// The machine type as the cloud bills it.
    Machine "machine" Text;
    /// Canonical name of the accelerator.
    Accelerator "accelerator" Text;
    /// Who makes the accelerator: nvidia, amd, google, aws, intel, ...
    Vendor "vendor" Text;
    /// Accelerators of one machine (rented) or one pod (requested); a fraction where one device is shared.
    AcceleratorCount "accelerator_count" Number;
    /// Memory of one whole accelerator in GiB.
    AcceleratorMemory "accelerator_memory_gib" Number;
    /// How the chips of a slice are laid out: 2x2x4.
    Topology "topology" Text;
    /// What keeps its machines near each other: a placement group, a compact policy.
    Placement "placement" Text;
    /// The network for training over several machines that its machines have: efa, infiniband, rdma.
    Interconnect "interconnect" Text;
    /// Interfaces of EFA, the network of AWS for training over several machines, that a pod asks for; 0 where a machine is
    /// told its interfaces, and none of them is of a type.
    EfaInterfaces "efa_interfaces" Number;
    /// Zones that its machines are spread over.
    Zones "zones" Integer;
    /// Why there is no such machine: an accelerator that it cannot carry.
    Impossible "impossible" Text;
    /// Why it holds its accelerators while nothing runs: its command sleeps, people work in it, it waits for jobs.
    Kept "kept" Text;
    /// It only shows its accelerators, or tries them for a moment: `nvidia-smi`, two vectors that are added.
    OnlyLooks "only_looks" Flag;
    /// A slice of an accelerator that is asked for: a MIG profile such as 1g.10gb.
    Slice "slice" Text;
    /// So many pods share one accelerator: time-slicing, MPS.
    SharedBy "shared_by" Number;
    /// How several pods share one accelerator that is not cut into slices: time-slicing or mps.
    Sharing "sharing" Text;
    /// What the processors of the machine must run, as images name it: amd64 or arm64.
    Processor "processor" Text;
    /// One of it runs on each node that it fits: a DaemonSet.
    OnEachNode "on_each_node" Flag;
    /// Virtual CPUs: of the machine (rented) or asked for by the pod (requested).
    Cpus "cpus" Number;
    /// CPUs that the pod may use at most.
    CpuLimit "cpu_limit" Number;
    /// Memory in GiB: of the machine (rented) or asked for by the pod (requested).
    Memory "memory_gib" Number;
    /// Accelerators of the machine that a pod runs on.
    NodeAccelerators "node_accelerators" Number;
    /// Virtual CPUs of the machine that a pod runs on.
    NodeCpus "node_cpus" Number;
    /// Memory in GiB of the machine that a pod runs on.
    NodeMemory "node_memory_gib" Number;

    /// Size of all disks of each machine in GiB, where the text says all of them.
    DiskGib "disk_gib" Number;
    /// Machines like it that its block makes by its count, itself included, where there are several.
    Instances "instances" Integer;
    /// Volumes and file systems that it uses and that are billed apart, each with its size where that is known.
    Volumes "volumes" List;
    /// Software whose licence is billed beside the machine: windows, rhel, suse, grid.
    Licence "licence" Text;

    // How it is bought
    /// Its processors, memory and accelerators are billed one by one at the prices of this service: cloud-run, or
    /// cloud-run-zonal where an accelerator is held ready in a second zone.
    BilledAs "billed_as" Text;
    /// on-demand, spot, reserved (a commitment), capacity-reservation (held, at the on-demand price), capacity-block,
    /// calendar, flex-start, dedicated-host, mixed, spot-or-on-demand or on-prem.
    Purchase "purchase" Text;
    /// With mixed purchase: machines that are always on demand.
    OnDemandBase "on_demand_base" Integer;
    /// With mixed purchase: the share above the base that is spot, 0 to 1.
    SpotShare "spot_share" Number;
    /// The product is sold on spot at all.
    SpotOffered "spot_offered" Flag;
    /// Machine types that it may take, where they are listed.
    MachineTypes "machine_types" Integer;
    /// It can be given several machine types.
    Flexible "flexible" Flag;
    /// How a provider chooses among spot machines, in its own words.
    AllocationStrategy "allocation_strategy" Text;
    /// What becomes of a machine that is taken away, in the provider's own words.
    EvictionPolicy "eviction_policy" Text;
    /// Another pool beside it with the same accelerator, one of the two on spot and one not.
    Twin "twin" Text;
    /// A reservation, and who may use it: open or targeted.
    Reservation "reservation" Text;
    /// Pools and machines of the tree that use a reservation.
    Consumers "consumers" Integer;
    /// Machines that a reservation pays for.
    Reserved "reserved" Number;
    /// The share of the on-demand price that unused capacity of a reservation costs, where that is not all of it.
    UnusedShare "unused_share" Number;
    /// The share of its price that a reservation without end pays for its place while it does not run.
    HeldShare "held_share" Number;
    /// For how many years it is committed to.
    CommitmentYears "commitment_years" Number;
    /// The most that is paid for a spot machine, in dollars an hour.
    MaxPrice "max_price_usd" Number;
    /// The most that is paid for a spot machine, as a share of the on-demand price.
    MaxPriceShare "max_price_share" Number;
    /// Whose hardware it shares: dedicated, where nobody else's machines run beside it.
    Tenancy "tenancy" Text;

    // What it is for
    /// training, batch, inference, interactive, ci, graphics, test or infra.
    Purpose "purpose" Text;
    /// It says of itself that it serves production.
    Production "production" Flag;
    /// It says of itself that it must be done by a certain time.
    DeadlineBound "deadline_bound" Flag;

    // What ends it
    /// It is stopped after so many idle minutes.
    IdleMinutes "idle_minutes" Number;
    /// What stops it at set times: a schedule, a policy, an alarm.
    Schedule "schedule" Text;
    /// When it starts, again and again: the five fields of cron.
    Cron "cron" Text;
    /// So many pods have to end well before it is done.
    Completions "completions" Number;
    /// It runs at most so many seconds.
    TimeLimit "time_limit_seconds" Number;
    /// Each of its pods runs at most so many seconds.
    PodTimeLimit "pod_time_limit_seconds" Number;
    /// How often failed work is started again.
    Retries "retries" Integer;
    /// Failed work is started again, as often as `retries` says or without an end.
    Retried "retried" Flag;
    /// Its machines are taken away again when nobody needs them; false where an autoscaler is told to take none away.
    ScaleDown "scale_down" Flag;
    /// As many as are wished stay, until somebody changes that number.
    KeepsDesired "keeps_desired" Flag;
    /// Its machines stay when its work is done.
    Lingers "lingers" Flag;
    /// It searches: many trials of one training with different settings.
    Search "search" Flag;
    /// Trials that a search makes at most.
    Trials "trials" Integer;
    /// A search stops trials that go badly.
    EarlyStopping "early_stopping" Flag;
    /// The queue that admits it.
    Queue "queue" Text;
    /// A queue for such work is defined in the same directory.
    QueueHere "queue_here" Flag;
    /// The priority class that decides who waits for whom.
    Priority "priority" Text;
    /// Priority classes are defined in the same directory.
    PriorityHere "priority_here" Flag;
    /// Its processes can share more memory than a container has by default.
    SharedMemory "shared_memory" Flag;
    /// It is removed so many seconds after it finished.
    Ttl "ttl_seconds" Number;
    /// Its number follows demand: an autoscaler is in charge of it.
    Autoscaled "autoscaled" Flag;
    /// What an autoscaler looks at: cpu, memory, or the name of another metric.
    AutoscaledOn "autoscaled_on" List;
    /// An autoscaler waits so long before it takes something away.
    Cooldown "cooldown_seconds" Number;
    /// It only exists while its work runs: a job, a task, a pool that a scheduler fills.
    EndsByItself "ends_by_itself" Flag;

    // What runs on it
    /// The serving or training program: vllm, sglang, tgi, torchrun, ...
    Program "program" Text;
    /// The model it declares.
    Model "model" Text;
    /// serve, embed, diffusion, speech or train.
    Task "task" Text;
    /// Precision of the weights: bf16, fp8, int8, awq, nf4, ...
    Precision "precision" Text;
    /// Precision of the KV cache, where it differs.
    CachePrecision "cache_precision" Text;
    /// Tokens of context that it holds.
    Context "context" Integer;
    /// Sequences or samples at a time.
    BatchSize "batch_size" Integer;
    /// Requests join a batch while others are under way.
    ContinuousBatching "continuous_batching" Flag;
    /// What many requests begin with is computed once.
    PrefixCache "prefix_cache" Flag;
    /// Share of accelerator memory that the program may fill, 0 to 1.
    MemoryUtilization "memory_utilization" Number;
    /// GPUs that share one layer.
    TensorParallel "tensor_parallel" Integer;
    /// Stages of layers.
    PipelineParallel "pipeline_parallel" Integer;
    /// Copies of the model.
    DataParallel "data_parallel" Integer;
    /// GPUs over which experts are spread.
    ExpertParallel "expert_parallel" Integer;
    /// Pods or machines that together run one copy of the model.
    GroupSize "group_size" Integer;
    /// How many such groups there are at least.
    Groups "groups" Integer;
    /// What finds further machines for one copy of the model, beside those that the text gives it: ray.
    Spread "spread" Text;
    /// Training: full, lora or qlora.
    Method "method" Text;
    /// Training: adamw, adamw8bit, lion, adafactor, ...
    Optimizer "optimizer" Text;
    /// Training: ddp, fsdp, zero1, zero2, zero3 or megatron.
    Sharding "sharding" Text;
    /// Training: activations are recomputed.
    Recompute "recompute" Flag;
    /// Part of the model or the optimizer is kept on the host.
    Offload "offload" Text;
    /// Where training writes its checkpoints.
    Checkpoint "checkpoint" Text;
    /// The file system in the network that it mounts: nfs, efs, filestore, azure-files, smb.
    DataStorage "data_storage" Text;
    /// How often training writes a checkpoint, as the program counts it; `no` where it writes none.
    CheckpointInterval "checkpoint_interval" Text;
    /// Processes that load data for each GPU.
    DataWorkers "data_workers" Integer;
    /// Processes that a launcher starts in one pod or machine, one for each GPU that it uses.
    Processes "processes" Integer;
    /// Declared size of the model in billions of parameters.
    Parameters "parameters_b" Number;
    /// Tokens that it writes on a usual day, all its replicas together.
    TokensPerDay "tokens_per_day" Number;
    /// Tokens of a usual prompt.
    PromptTokens "input_tokens" Number;
    /// Tokens of a usual answer.
    AnswerTokens "output_tokens" Number;
    /// The most milliseconds between two tokens of an answer that people may be given.
    MsPerToken "ms_per_token" Number;
    /// Requests, pictures or other answers of a usual day, all its replicas together.
    RequestsPerDay "requests_per_day" Number;
    /// People who have a seat on it.
    Seats "seats" Number;
    /// What it works on may not be given to others.
    PrivateData "private_data" Flag;
    /// Tokens that one training run reads, all its machines or pods together, those that one block makes by its count too.
    TrainTokens "train_tokens" Number;
    /// A smaller model that drafts tokens and is held beside the main one.
    DraftModel "draft_model" Text;

    // What a meter said of it, in `gpulint-usage.csv`
    /// Measured: the mean share of the time in which its accelerators worked.
    MeasuredBusy "measured_busy" Number;
    /// Measured: the most of it.
    MeasuredBusyMax "measured_busy_max" Number;
    /// Measured: the share of five-minute points at which they did nothing.
    MeasuredIdle "measured_idle" Number;
    /// Measured: the mean share of the units of an accelerator that worked.
    MeasuredUnits "measured_units" Number;
    /// Measured: the most memory of one accelerator in GiB; not known of programs that take all of it at their start.
    MeasuredMemory "measured_memory_gib" Number;
    /// Measured: the largest share of a server's cache that was in use.
    MeasuredCache "measured_cache" Number;
    /// Measured: accelerator hours of all of them in the window.
    MeasuredHours "measured_gpu_hours" Number;
    /// Measured: days of the window in which it was seen.
    MeasuredDays "measured_days" Number;
    /// Measured: days of the window, whether or not it was seen.
    MeasuredWindowDays "measured_window_days" Number;
    /// Measured: requests a second.
    MeasuredRequests "measured_requests" Number;
    /// Measured: tokens a second.
    MeasuredTokens "measured_tokens" Number;
    /// Measured: the most requests that ran at once, of all its replicas.
    MeasuredRunning "measured_running" Number;
    /// Measured: the most requests that waited.
    MeasuredWaiting "measured_waiting" Number;
    /// Measured: requests that were put back for want of memory.
    MeasuredPreemptions "measured_preemptions" Number;
    /// Measured: pods or machines, by time.
    MeasuredReplicas "measured_replicas" Number;
    /// Measured: the share of the accelerator hours of machines that no pod held.
    MeasuredUnallocated "measured_unallocated" Number;
    /// Measured: whether it ran at all in the window; false only where the meter itself was there.
    MeasuredSeen "measured_seen" Flag;
    /// Measured: over which days, and how well they are covered, as people say it.
    MeasuredWindow "measured_window" Text;
    /// Measured: by what, as its rows name it: `dcgm:GR_ENGINE_ACTIVE`.
    MeasuredSource "measured_source" Text;

    // What a bill said of it, in `gpulint-paid.csv`: of the last month that has ended
    /// Paid: dollars for its use in that month, after all discounts, with its part of commitments.
    PaidMonthly "paid_monthly" Number;
    /// Paid: the same at the list prices of the bill.
    PaidListMonthly "paid_list_monthly" Number;
    /// Paid: hours of all its machines together.
    PaidHours "paid_hours" Number;
    /// Paid: the share of these hours that a commitment covered.
    PaidCommittedShare "paid_committed_share" Number;
    /// Paid: machines that commitments covered, on an average of all hours of that month.
    PaidCommitted "paid_committed" Number;
    /// Paid: the share of these hours that ran on spot.
    PaidSpotShare "paid_spot_share" Number;
    /// Paid: dollars for its use in the month of today, as far as it was billed.
    PaidSoFar "paid_so_far" Number;
    /// Paid: days of the month of today that the bill has.
    PaidDays "paid_days" Number;
    /// Paid: the month, as in 2026-10.
    PaidMonth "paid_month" Text;
}
