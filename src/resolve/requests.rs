//! Sums the accelerators that the pods of the files request from each pool.

use std::collections::HashMap;

use crate::inventory::{BillingRole, Fact, FactOrigin, FactValue, Inventory, Key, LinkKind, Purpose, Resource};

/// Sets on each pool the most accelerators that its pods request at once. Pods that only test a device do not count.
/// If the number of one pod is unknown or unlimited, or the pod can also run on other pools, the sum is not set.
pub(super) fn sum_requests(inventory: &mut Inventory) {
    let mut sums: HashMap<String, Option<f64>> = HashMap::new();
    let pods = inventory.resources.iter().filter(|it| it.role == BillingRole::Requested && !only_tests(it));
    for pod in pods {
        let asked = most_accelerators(pod);
        for link in pod.links.iter().filter(|link| link.kind == LinkKind::Pool) {
            let sum = sums.entry(link.to.clone()).or_insert(Some(0.0));
            *sum = sum.zip(asked).map(|(sum, more)| sum + more);
        }
        for link in pod.links.iter().filter(|link| link.kind == LinkKind::PossiblePool) {
            sums.insert(link.to.clone(), None);
        }
    }
    if sums.is_empty() {
        return;
    }
    for pool in inventory.resources.iter_mut().filter(|it| it.role == BillingRole::Rented) {
        let Some(sum) = sums.get(&pool.address).copied().flatten().filter(|sum| *sum > 0.0) else { continue };
        let origin = FactOrigin::Inferred("pods that are not in these files may also run there".into());
        pool.set(Key::AskedAccelerators, Fact::known(FactValue::Number(sum), pool.span, origin));
    }
}

fn most_accelerators(pod: &Resource) -> Option<f64> {
    let most = pod.count.value()?.ceiling;
    let each = pod.number(Key::AcceleratorCount)?;
    Some(most * each).filter(|it| it.is_finite())
}

fn only_tests(pod: &Resource) -> bool {
    pod.purpose() == Some(Purpose::Test) || pod.flag(Key::OnlyLooks) == Some(true)
}
