//! Finds what a counter name means, where it exists and what it costs.

use std::collections::BTreeMap;

use super::{Column, Combine, DerivedCounter, RawCounter, Unit, Variant, equivalents, index};

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub enum Definition {
    /// A hardware counter.
    Raw(&'static RawCounter),
    /// A computed one.
    Derived(&'static DerivedCounter),
}

/// Suffix that asks the profiler to combine instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// `_sum`
    Sum,
    /// `_max`
    Max,
    /// `_min`
    Min,
    /// `_avr`
    Mean,
}

impl Aggregate {
    /// The suffix.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Sum => "_sum",
            Self::Max => "_max",
            Self::Min => "_min",
            Self::Mean => "_avr",
        }
    }
}

/// A counter name taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Resolved {
    /// What it stands for.
    pub definition: Definition,
    /// Instance index given, `TCC_HIT[3]`.
    pub instance: Option<u32>,
    /// Aggregate suffix given, `TCC_HIT_sum`.
    pub aggregate: Option<Aggregate>,
}

/// Resolves a name: exact and case-sensitive, else without an instance index, else without an aggregate suffix.
pub fn resolve(name: &str) -> Option<Resolved> {
    let exact = |name: &str| index().get(name).copied();
    if let Some(definition) = exact(name) {
        return Some(Resolved { definition, instance: None, aggregate: None });
    }
    if let Some((base, index)) = name.strip_suffix(']').and_then(|rest| rest.split_once('['))
        && let Ok(index) = index.parse()
    {
        return Some(Resolved { definition: exact(base)?, instance: Some(index), aggregate: None });
    }
    [Aggregate::Sum, Aggregate::Max, Aggregate::Min, Aggregate::Mean].into_iter().find_map(|aggregate| {
        let definition = exact(name.strip_suffix(aggregate.suffix())?)?;
        Some(Resolved { definition, instance: None, aggregate: Some(aggregate) })
    })
}

impl Resolved {
    /// Name without instance and suffix.
    pub fn base_name(&self) -> &'static str {
        match self.definition {
            Definition::Raw(counter) => &counter.name,
            Definition::Derived(counter) => &counter.name,
        }
    }

    /// Whether the profiler computes it.
    pub fn is_derived(&self) -> bool {
        matches!(self.definition, Definition::Derived(_))
    }

    /// Unit.
    pub fn unit(&self) -> Unit {
        match self.definition {
            Definition::Raw(counter) => counter.unit,
            Definition::Derived(counter) => counter.unit,
        }
    }

    /// What it counts.
    pub fn about(&self) -> &'static str {
        match self.definition {
            Definition::Raw(counter) => &counter.about,
            Definition::Derived(counter) => &counter.about,
        }
    }

    /// Definition on a column; `None` when it is raw or not defined there.
    pub fn variant(&self, column: Column) -> Option<&'static Variant> {
        let Definition::Derived(counter) = self.definition else { return None };
        let here = |variant: &&Variant| {
            variant.arches.iter().any(|arch| {
                Column::of(arch)
                    .is_some_and(|of| of.column == column && of.source == super::LimitsSource::Arch)
            })
        };
        counter.variants.iter().find(here)
    }

    /// Whether it is defined on a column.
    pub fn available(&self, column: Column) -> bool {
        match self.definition {
            Definition::Raw(counter) => counter.events.get(column.place()).is_some_and(Option::is_some),
            Definition::Derived(_) => self.variant(column).is_some(),
        }
    }

    /// Known gfx ids it is defined on, sorted by byte order.
    pub fn available_on(&self) -> Vec<&'static str> {
        let columns = Column::ALL.into_iter().filter(|column| self.available(*column));
        let mut ids: Vec<_> = columns.flat_map(|column| column.gfx_ids().iter().copied()).collect();
        ids.sort_unstable();
        ids
    }

    /// Raw counters it needs on a column, in order; empty when it is not defined there or is a constant.
    pub fn events(&self, column: Column) -> Vec<&'static RawCounter> {
        let raw = |name: &String| match index().get(name.as_str()) {
            Some(Definition::Raw(counter)) => Some(*counter),
            _ => None,
        };
        match self.definition {
            Definition::Raw(counter) if self.available(column) => vec![counter],
            Definition::Raw(_) => Vec::new(),
            Definition::Derived(_) => self
                .variant(column)
                .map(|variant| variant.events.iter().filter_map(raw).collect())
                .unwrap_or_default(),
        }
    }

    /// The level counter it accumulates on a column: a second SQ slot beside it, and at most one such counter
    /// per pass.
    pub fn accumulates(&self, column: Column) -> Option<&'static str> {
        self.variant(column)?.accumulates.as_deref()
    }

    /// Slots it takes in a pass of its own, per block.
    pub fn cost(&self, column: Column) -> BTreeMap<&'static str, u32> {
        let mut cost: BTreeMap<&'static str, u32> = BTreeMap::new();
        for event in self.events(column) {
            *cost.entry(event.block.as_str()).or_default() += 1;
        }
        if self.accumulates(column).is_some() {
            *cost.entry("SQ").or_default() += 1;
        }
        cost
    }

    /// The block it is listed under: a raw counter's own; of a derived one the block of its first event on the
    /// column (else on the first column that has it) that is not a clock.
    pub fn block(&self, column: Option<Column>) -> &'static str {
        if let Definition::Raw(counter) = self.definition {
            return &counter.block;
        }
        let column = column.filter(|column| self.available(*column));
        let column = column.or_else(|| Column::ALL.into_iter().find(|column| self.available(*column)));
        let events = column.map(|column| self.events(column)).unwrap_or_default();
        let first = events.iter().find(|event| event.block != "GRBM").or_else(|| events.first());
        first.map_or("constant", |event| event.block.as_str())
    }
}

/// Counters of the same meaning on a column, spelled like the one asked for.
pub fn alternatives(name: &str, column: Column) -> Vec<String> {
    let Some(asked) = resolve(name) else { return Vec::new() };
    let base = asked.base_name();
    let suffix = asked.aggregate.map_or("", Aggregate::suffix);
    let here = |name: &str| resolve(name).is_some_and(|found| found.available(column));
    let same = equivalents().same.iter().filter(|group| group.iter().any(|member| member == base)).flatten();
    let mut found: Vec<String> = same
        .filter(|member| member.as_str() != base && here(member))
        .map(|member| format!("{member}{suffix}"))
        .collect();
    let instead = equivalents().instead.iter().filter(|row| row.name == base).flat_map(|row| &row.take);
    if found.is_empty() {
        found.extend(instead.filter(|name| here(name)).cloned());
    }
    found
}

/// How instance rows of a counter combine into one value of a dispatch. Unknown names count events.
pub fn combine(name: &str) -> Combine {
    let Some(found) = resolve(name) else { return Combine::Sum };
    match (found.aggregate, found.definition) {
        (Some(Aggregate::Sum), _) => Combine::Sum,
        (Some(Aggregate::Max), _) => Combine::Max,
        (Some(Aggregate::Min), _) => Combine::Min,
        (Some(Aggregate::Mean), _) => Combine::Mean,
        // Every die's clock ticks at once: adding them would multiply time by the number of dies.
        (None, Definition::Raw(counter)) if counter.block == "GRBM" => Combine::Max,
        (None, Definition::Raw(_)) => Combine::Sum,
        (None, Definition::Derived(counter)) => match counter.unit {
            Unit::Percent
            | Unit::Ratio
            | Unit::Cycles
            | Unit::Waves
            | Unit::BytesPerCycle
            | Unit::Constant => Combine::Mean,
            _ => Combine::Sum,
        },
    }
}
