//! Numbers things once: shared tables behind locks, and per-stream caches in front of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// A growing table of distinct things, shared by all streams of a trace.
#[derive(Debug)]
pub(crate) struct Interner<K, V> {
    inner: RwLock<(HashMap<K, u32>, Vec<V>)>,
}

impl<K, V> Default for Interner<K, V> {
    fn default() -> Self {
        Self { inner: RwLock::new((HashMap::new(), Vec::new())) }
    }
}

impl<K: Hash + Eq, V: Clone> Interner<K, V> {
    /// The number of `key`; `make` gives its entry on first sight.
    pub(crate) fn intern(&self, key: K, make: impl FnOnce() -> V) -> u32 {
        if let Some(&index) = self.inner.read().unwrap_or_else(PoisonError::into_inner).0.get(&key) {
            return index;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let (indices, values) = &mut *inner;
        *indices.entry(key).or_insert_with(|| {
            values.push(make());
            // More than 2^32 distinct things do not fit in memory anyway.
            u32::try_from(values.len() - 1).unwrap_or(u32::MAX)
        })
    }

    pub(crate) fn get(&self, index: u32) -> Option<V> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).1.get(index as usize).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.inner.read().unwrap_or_else(PoisonError::into_inner).1.len()
    }
}

/// Ids below this are looked up in an array.
const DENSE: usize = 1 << 16;
const ABSENT: u32 = u32::MAX;

/// From row ids to numbers: small ids by position, others by hash, the last one remembered.
#[derive(Clone, Debug)]
pub(crate) struct IdMap {
    last: (i64, u32),
    dense: Vec<u32>,
    sparse: HashMap<i64, u32>,
}

impl Default for IdMap {
    fn default() -> Self {
        Self { last: (i64::MIN, ABSENT), dense: Vec::new(), sparse: HashMap::new() }
    }
}

impl IdMap {
    pub(crate) fn insert(&mut self, id: i64, index: u32) {
        match usize::try_from(id) {
            Ok(at) if at < DENSE => {
                if self.dense.len() <= at {
                    self.dense.resize(at + 1, ABSENT);
                }
                if let Some(slot) = self.dense.get_mut(at) {
                    *slot = index;
                }
            }
            _ => {
                self.sparse.insert(id, index);
            }
        }
    }

    pub(crate) fn get(&self, id: i64) -> Option<u32> {
        let found = match usize::try_from(id) {
            Ok(at) if at < DENSE => self.dense.get(at).copied().unwrap_or(ABSENT),
            _ => self.sparse.get(&id).copied().unwrap_or(ABSENT),
        };
        (found != ABSENT).then_some(found)
    }

    /// The number of `id`, asking `find` on first sight.
    #[inline]
    pub(crate) fn get_or(&mut self, id: i64, find: impl FnOnce() -> u32) -> u32 {
        if self.last.0 == id && self.last.1 != ABSENT {
            return self.last.1;
        }
        let index = self.get(id).unwrap_or_else(|| {
            let index = find();
            self.insert(id, index);
            index
        });
        self.last = (id, index);
        index
    }
}
