//! Defines facts with a closed list of values: the way of buying, the purpose, the task of a program.

use super::fact::Fact;
use super::key::FactValue;

macro_rules! terms {
    ($(#[$doc:meta])* $type:ident { $($variant:ident $name:literal $(| $also:literal)*),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $($variant),+ }

        impl $type {
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name $(| $also)* => Some($type::$variant),)+ _ => None }
            }

            pub fn of(value: &FactValue) -> Option<Self> {
                value.as_text().and_then(Self::from_name)
            }

            /// Returns the value of a fact, if it is known and in the list.
            pub fn from_fact(fact: &Fact<FactValue>) -> Option<Self> {
                fact.value().and_then(Self::of)
            }
        }

        impl From<$type> for FactValue {
            fn from(term: $type) -> FactValue {
                FactValue::text(term.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                Self::from_name(&name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is not a known value")))
            }
        }
    };
}

terms! {
    /// The way of buying a machine.
    Purchase {
        OnDemand "on-demand",
        Spot "spot",
        Reserved "reserved",
        CapacityReservation "capacity-reservation",
        Calendar "calendar",
        DedicatedHost "dedicated-host",
        CapacityBlock "capacity-block",
        FlexStart "flex-start",
        Mixed "mixed",
        SpotOrOnDemand "spot-or-on-demand",
        OnPrem "on-prem",
    }
}

terms! {
    /// The purpose of a resource.
    Purpose {
        Training "training",
        Batch "batch",
        Inference "inference",
        Interactive "interactive",
        Ci "ci",
        Graphics "graphics",
        Test "test",
        Infra "infra",
    }
}

terms! {
    /// Task of a program.
    Task {
        Serve "serve",
        Embed "embed",
        Diffusion "diffusion",
        Speech "speech" | "asr",
        Train "train",
    }
}

impl Task {
    /// Returns the purpose of a resource that runs such a program.
    pub fn purpose(self) -> Purpose {
        match self {
            Task::Train => Purpose::Training,
            Task::Serve | Task::Embed | Task::Diffusion | Task::Speech => Purpose::Inference,
        }
    }
}
