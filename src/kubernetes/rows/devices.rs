//! Defines the tables of `devices.toml`: the resource keys of accelerators, and the meaning of node labels.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::source::AdaptiveRegex;

/// The prefix of a device class in a resource key. Such a key requests single devices of the class, without a claim
/// (Kubernetes 1.34).
const CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// A resource key, or a class of dynamic resource allocation, that represents an accelerator.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct DeviceClass {
    #[serde(alias = "name")]
    pub key: String,
    /// The vendor of the device; empty if the key does not determine it.
    #[serde(default)]
    pub vendor: String,
    pub provider: Option<String>,
    pub chip: Option<String>,
    #[serde(default)]
    pub slice: bool,
    /// True if the part of the key that matches `*` is the name of the accelerator.
    #[serde(default)]
    pub named: bool,
    /// True if the key requests a part of a device without determining its size.
    #[serde(default)]
    pub shared: bool,
    pub per: Option<f64>,
}

/// A resource key that sets the requested share of a device.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct DeviceShare {
    pub key: String,
    /// The amount of a whole device. It is missing if it depends on the device.
    pub whole: Option<f64>,
    /// The key requests a device of this vendor if no other key requests one.
    pub vendor: Option<String>,
}

/// The meaning of a node label.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct DeviceLabel {
    pub key: String,
    pub fact: Option<LabelMeaning>,
    pub provider: Option<String>,
    #[serde(default)]
    pub map: BTreeMap<String, String>,
    /// The meaning of any value.
    pub any: Option<String>,
    /// A part of label values that occurs only on owned hardware.
    pub owned: Option<String>,
    /// The separator between several values in one string.
    pub split: Option<String>,
    pub scale: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelMeaning {
    Accelerator,
    AcceleratorMemoryGib,
    Machine,
    AcceleratorCount,
    Vendor,
    /// The first part of machine names: `p5`.
    Family,
    /// The part of machine names after the family: `12xlarge`.
    Size,
    /// A letter at the start of machine names whose machines may have accelerators: `g`.
    Category,
    /// The digit after that letter: `5`.
    Generation,
    /// The processor architecture of the machine, as image names contain it: `amd64`.
    Processor,
    Region,
    Zone,
    Purchase,
    /// A MIG profile for every accelerator of the node.
    Slice,
    /// The number of pods that share one accelerator.
    SharedBy,
    /// The way in which they share it: time-slicing or in parallel.
    Sharing,
    /// The seconds after which the node is removed.
    TimeLimitSeconds,
    /// The name of a pool or class, which may contain more information.
    Pool,
}

/// The meaning of a node label, for fixes that change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeLabel {
    Machine,
    /// A part of the machine name, or a property of the machine.
    PartOfMachine,
    Accelerator,
    Region,
    Zone,
    Purchase,
}

/// Returns the meaning of a node label, or `None` if the label has another meaning or only its owner knows it.
pub fn node_label(key: &str) -> Option<NodeLabel> {
    Some(match DEVICES.label(key)?.fact? {
        LabelMeaning::Machine => NodeLabel::Machine,
        LabelMeaning::Family
        | LabelMeaning::Size
        | LabelMeaning::Category
        | LabelMeaning::Generation
        | LabelMeaning::Processor
        | LabelMeaning::AcceleratorCount
        | LabelMeaning::AcceleratorMemoryGib
        | LabelMeaning::Vendor => NodeLabel::PartOfMachine,
        LabelMeaning::Accelerator => NodeLabel::Accelerator,
        LabelMeaning::Region => NodeLabel::Region,
        LabelMeaning::Zone => NodeLabel::Zone,
        LabelMeaning::Purchase => NodeLabel::Purchase,
        LabelMeaning::Slice
        | LabelMeaning::SharedBy
        | LabelMeaning::Sharing
        | LabelMeaning::TimeLimitSeconds
        | LabelMeaning::Pool => return None,
    })
}

/// Returns the label value that has this meaning.
pub fn word_of_label(key: &str, meant: &str) -> Option<&'static str> {
    let mut words = DEVICES.label(key)?.map.iter();
    words.find(|(_, known)| *known == meant).map(|(word, _)| word.as_str())
}

/// The label by which a pod selects spot nodes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct SpotLabel {
    pub key: String,
    provider: String,
    /// The prefix of another label that the pod must have.
    beside: Option<String>,
    #[serde(default)]
    pub tainted: bool,
}

/// A pattern that finds facts in the names of pools or classes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NameForm {
    fact: LabelMeaning,
    provider: Option<String>,
    pattern: String,
    /// A pattern of the label keys in which the match is valid, if it has other meanings elsewhere.
    key: Option<String>,
    /// The template that builds the value from the groups of the pattern.
    #[serde(default = "first_group")]
    form: String,
}

fn first_group() -> String {
    "{1}".to_owned()
}

#[derive(Debug)]
pub(in crate::kubernetes) struct NamePattern {
    pub fact: LabelMeaning,
    pub provider: Option<String>,
    form: String,
    /// The pattern as written.
    pub written: String,
    pattern: AdaptiveRegex,
    key: Option<AdaptiveRegex>,
}

impl NamePattern {
    pub(in crate::kubernetes) fn find(&self, name: &str) -> Option<String> {
        self.pattern.formed(name, &self.form)
    }

    /// Returns whether a label with this key may contain the fact.
    pub(in crate::kubernetes) fn suits(&self, key: &str) -> bool {
        self.key.as_ref().is_none_or(|pattern| pattern.is_match(key))
    }
}

/// A way in which a container gets the devices of its node without requesting them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::kubernetes) struct UnrequestedDevices {
    /// The variable that selects the devices.
    pub variable: String,
    /// The values with which it selects none.
    pub none: Vec<String>,
    /// The beginning of the names of runtime classes that read the variable.
    pub runtime: String,
    /// The resource key of these devices.
    pub device: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    device: Vec<DeviceClass>,
    share: Vec<DeviceShare>,
    label: Vec<DeviceLabel>,
    name: Vec<NameForm>,
    spot: Vec<SpotLabel>,
    class: Vec<DeviceClass>,
    annotation: Vec<DeviceClass>,
    unrequested: Vec<UnrequestedDevices>,
}

#[derive(Default)]
pub(in crate::kubernetes) struct Devices {
    exact: HashMap<String, DeviceClass>,
    /// The first key of whole devices of each vendor.
    usual: HashMap<String, String>,
    patterns: Vec<DeviceClass>,
    shares: HashMap<String, DeviceShare>,
    /// Devices that some share keys request on their own.
    shared: HashMap<String, DeviceClass>,
    share_patterns: Vec<DeviceShare>,
    labels: HashMap<String, DeviceLabel>,
    pub names: Vec<NamePattern>,
    spot: Vec<SpotLabel>,
    annotations: HashMap<String, DeviceClass>,
    classes: HashMap<String, DeviceClass>,
    pub unrequested: Vec<UnrequestedDevices>,
}

impl Devices {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let (patterns, exact) = file.device.into_iter().partition::<Vec<_>, _>(|device| device.key.contains('*'));
        let alone = file.share.iter().filter_map(|share| {
            let (key, vendor) = (share.key.clone(), share.vendor.clone()?);
            let device = DeviceClass { key, vendor, shared: true, ..DeviceClass::default() };
            Some((share.key.clone(), device))
        });
        let shared = alone.collect();
        let (share_patterns, shares) = file.share.into_iter().partition::<Vec<_>, _>(|share| share.key.contains('*'));
        let names = file.name.into_iter().map(|form| {
            let pattern = AdaptiveRegex::new(form.pattern.as_str());
            let key = form.key.map(AdaptiveRegex::new);
            NamePattern {
                fact: form.fact,
                provider: form.provider,
                form: form.form,
                written: form.pattern,
                pattern,
                key,
            }
        });
        let mut usual: HashMap<String, String> = HashMap::new();
        for device in exact.iter().filter(|it: &&DeviceClass| !it.slice && !it.shared && it.per.is_none()) {
            usual.entry(device.vendor.clone()).or_insert_with(|| device.key.clone());
        }
        Ok(Devices {
            usual,
            exact: exact.into_iter().map(|device| (device.key.clone(), device)).collect(),
            patterns,
            share_patterns,
            shared,
            shares: shares.into_iter().map(|share| (share.key.clone(), share)).collect(),
            labels: file.label.into_iter().map(|label| (label.key.clone(), label)).collect(),
            names: names.collect(),
            spot: file.spot,
            annotations: file.annotation.into_iter().map(|it| (it.key.clone(), it)).collect(),
            classes: file.class.into_iter().map(|class| (class.key.clone(), class)).collect(),
            unrequested: file.unrequested,
        })
    }

    /// Returns the resource key by which pods request whole accelerators of a vendor.
    pub(in crate::kubernetes) fn whole_device(&self, vendor: &str) -> Option<&str> {
        self.usual.get(vendor).map(String::as_str)
    }

    /// Returns the device of a resource key, and the part that matches `*` in its definition.
    pub(in crate::kubernetes) fn device<'k>(&self, key: &'k str) -> Option<(&DeviceClass, &'k str)> {
        if let Some(device) = self.exact.get(key) {
            return Some((device, ""));
        }
        if let Some(class) = key.strip_prefix(CLASS) {
            return self.class(class).filter(|device| !device.slice && !device.shared).map(|device| (device, ""));
        }
        let found = self.patterns.iter().find_map(|device| Some((device, starred(&device.key, key)?)))?;
        // A share key such as `huawei.com/Ascend910B-memory` is not a separate device.
        self.share(key).is_none().then_some(found)
    }

    pub(in crate::kubernetes) fn share(&self, key: &str) -> Option<&DeviceShare> {
        let pattern = || self.share_patterns.iter().find(|share| starred(&share.key, key).is_some());
        self.shares.get(key).or_else(pattern)
    }

    /// Returns the device that a share key requests on its own, if no other key requests one.
    pub(in crate::kubernetes) fn shared(&self, key: &str) -> Option<&DeviceClass> {
        self.shared.get(key)
    }

    /// Returns whether this key requests accelerators or a part of one.
    pub(in crate::kubernetes) fn is_asked_by(&self, key: &str) -> bool {
        self.device(key).is_some() || self.shared(key).is_some()
    }

    pub(in crate::kubernetes) fn label(&self, key: &str) -> Option<&DeviceLabel> {
        self.labels.get(key)
    }

    /// Returns the label by which a pod selects spot nodes of a provider, if the pod has labels with the prefix in the
    /// definition.
    pub(in crate::kubernetes) fn spot(&self, provider: &str, has: impl Fn(&str) -> bool) -> Option<&SpotLabel> {
        self.spot.iter().find(|it| it.provider == provider && it.beside.as_deref().is_none_or(&has))
    }

    /// Returns whether spot nodes with a label have a taint, too.
    pub(in crate::kubernetes) fn is_tainted(&self, label: &str) -> bool {
        self.spot.iter().any(|it| it.key == label && it.tainted)
    }

    /// Returns the device of a class or driver of dynamic resource allocation.
    pub(in crate::kubernetes) fn class(&self, name: &str) -> Option<&DeviceClass> {
        self.classes.get(name)
    }

    /// Returns the device whose share a pod annotation requests.
    pub(in crate::kubernetes) fn annotation(&self, key: &str) -> Option<&DeviceClass> {
        self.annotations.get(key)
    }

    /// Returns all devices that containers request by a key.
    pub(in crate::kubernetes) fn all(&self) -> impl Iterator<Item = &DeviceClass> {
        self.exact.values().chain(&self.patterns)
    }

    /// Returns the keys that request single whole devices of a class, without a claim.
    pub(in crate::kubernetes) fn whole_classes(&self) -> impl Iterator<Item = (String, &DeviceClass)> {
        let whole = self.classes.iter().filter(|(_, device)| !device.slice && !device.shared);
        whole.map(|(name, device)| (format!("{CLASS}{name}"), device))
    }

    /// Returns all keys that request a share of a device.
    pub(in crate::kubernetes) fn all_shares(&self) -> impl Iterator<Item = &DeviceShare> {
        self.shares.values().chain(&self.share_patterns)
    }

    pub(in crate::kubernetes) fn all_labels(&self) -> impl Iterator<Item = &DeviceLabel> {
        self.labels.values()
    }

    pub(in crate::kubernetes) fn all_annotations(&self) -> impl Iterator<Item = &str> {
        self.annotations.keys().map(String::as_str)
    }

    /// Returns search words. Every file that requests an accelerator contains at least one of them.
    pub(in crate::kubernetes) fn words(&self) -> impl Iterator<Item = &str> {
        let keys = self.exact.keys().chain(self.patterns.iter().map(|device| &device.key)).chain(self.shares.keys());
        let keys = keys.chain(self.annotations.keys());
        let literal = keys.filter_map(|key| key.split('*').max_by_key(|part| part.len()));
        // A word that ends with a domain and one letter does not select fewer files than the domain.
        let whole = literal.map(|word| match word.rfind('/') {
            Some(end) if end > 0 && end + 2 >= word.len() => word.get(..=end).unwrap_or(word),
            _ => word,
        });
        whole.chain([CLASS]).chain(self.unrequested.iter().map(|way| way.variable.as_str()))
    }
}

/// Returns the part that matches `*` in a pattern. If the first `*` matches a domain, returns the part for the last
/// one.
fn starred<'k>(pattern: &str, key: &'k str) -> Option<&'k str> {
    if let Some(name) = pattern.strip_prefix("*/") {
        let (_, key) = key.split_once('/')?;
        return if name.contains('*') { starred(name, key) } else { (name == key).then_some("") };
    }
    let (before, after) = pattern.split_once('*')?;
    key.strip_prefix(before)?.strip_suffix(after)
}

/// The embedded table. A test checks that it can be parsed.
pub(in crate::kubernetes) static DEVICES: LazyLock<Devices> =
    LazyLock::new(|| match Devices::parse(include_str!(concat!(env!("OUT_DIR"), "/devices.json"))) {
        Ok(devices) => devices,
        Err(why) => unreachable!("the embedded devices: {why}"),
    });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_devices_is_sound() {
        assert!(DEVICES.names.iter().all(|name| name.pattern.has_group()));
        let devices = Devices::parse(include_str!(concat!(env!("OUT_DIR"), "/devices.json"))).unwrap();
        assert_eq!(devices.device("nvidia.com/mig-1g.5gb").map(|(d, rest)| (d.slice, rest)), Some((true, "1g.5gb")));
        assert!(devices.device("nvidia.com/rdma-vf").is_none());
        assert!(devices.device("nvidia.com/hostdev").is_none());
        for key in ["nvidia.com/a100", "nvidia.com/h200", "nvidia.com/rtxa6000", "nvidia.com/gh200", "nvidia.com/l40s"]
        {
            assert!(devices.device(key).is_some_and(|(device, _)| device.named), "{key}");
        }
        for key in ["nvidia.com/bf3", "nvidia.com/cx6", "nvidia.com/gpu.count", "nvidia.com/topograph", "nvidia.com/vf"]
        {
            assert!(devices.device(key).is_none_or(|(device, _)| !device.named), "{key}");
        }
        assert!(devices.device("nvidia.com/gpu-h100").is_some_and(|(device, _)| !device.shared));
        assert!(devices.device("example.org/gpu").is_some_and(|(device, _)| device.vendor.is_empty()));
        assert!(devices.device("example.org/gpu-core").is_some_and(|(device, _)| device.shared));
        assert!(devices.words().all(|word| word.len() > 3), "a short word has every file parsed");
        assert!(devices.device("huawei.com/Ascend910B").is_some());
        assert!(devices.device("huawei.com/Ascend910B-memory").is_none());
        assert!(devices.device("iluvatar.ai/BI-V100-vgpu").is_some_and(|(device, _)| device.shared));
    }

    #[test]
    fn names_of_pools_give_types_away() {
        let find = |name: &str| {
            DEVICES.names.iter().find_map(|pattern| Some((pattern.fact, pattern.find(name)?))).map(|(_, value)| value)
        };
        assert_eq!(find("a3-ultragpu-8g-a3-ultragpu-pool").as_deref(), Some("a3-ultragpu-8g"));
        assert_eq!(find("gpu-l4x2-g2s24-dws").as_deref(), Some("l4"));
        assert_eq!(find("tpu-v5e-2x4").as_deref(), Some("tpu-v5e"));
        for name in ["trn1-32xl", "gpu-trn1.32xlarge-pool", "ng_trn1-32xlarge"] {
            assert_eq!(find(name).as_deref(), Some("trn1.32xlarge"), "{name}");
        }
        assert_eq!(find("g5.xlarge").as_deref(), Some("g5.xlarge"));
        assert_eq!(find("m5.xlarge"), None);
        assert_eq!(find("p4d-workers").as_deref(), Some("p4d.*"));
        assert_eq!(find("default-pool"), None);
    }
}
