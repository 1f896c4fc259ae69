//! Circles among files that take from each other.

use super::source::Arrow;
use std::collections::{BTreeMap, BTreeSet};

/// Every set of files that reach each other.
pub(super) fn find<'a>(arrows: &[&'a Arrow]) -> Vec<BTreeSet<&'a str>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in arrows {
        next.entry(&arrow.from).or_default().insert(&arrow.to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|file| (*file, reached(file, &next))).collect();
    let mut circles: Vec<BTreeSet<&str>> = Vec::new();
    for (file, below) in &reached {
        if below.contains(file) && !circles.iter().any(|circle| circle.contains(file)) {
            let back = |other: &&&str| reached.get(**other).is_some_and(|below| below.contains(file));
            circles.push(below.iter().filter(back).copied().collect());
        }
    }
    circles
}

/// Everything that can be reached from a file, itself only by a way back.
fn reached<'a>(from: &str, next: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut left: Vec<&str> = next.get(from).into_iter().flatten().copied().collect();
    while let Some(file) = left.pop() {
        if seen.insert(file) {
            left.extend(next.get(file).into_iter().flatten().copied());
        }
    }
    seen
}
