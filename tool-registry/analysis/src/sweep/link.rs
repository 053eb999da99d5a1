//! From a dispatch or copy back to the host call that asked for it, with bounded memory.

/// The call behind some GPU work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The last blocking call of the same thread before it.
    pub(crate) waited: (i64, i64),
    /// Position in the table of names.
    pub(crate) name: u32,
    /// Dispatches so far, the one that asks included.
    pub(crate) dispatches: u32,
    /// Copies so far, the one that asks included.
    pub(crate) copies: u32,
}

/// What asks for its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Dispatch,
    Copy,
}

/// A call in 32 bytes: GPU work may lag hundreds of thousands of calls behind, and their size is what the look-up costs.
/// Lengths and distances stop at 4.29 s; a longer one only moves the end of a call or the wait before it closer.
#[derive(Clone, Copy, Debug)]
struct Slot {
    start: i64,
    /// The part of the id that the slot's place does not tell, one added; 0 is empty.
    tag: u32,
    length: u32,
    /// From the begin and the end of the wait before to the start; `u32::MAX` for none.
    wait_begin: u32,
    wait_end: u32,
    name: u32,
    dispatches: u16,
    copies: u16,
}

const EMPTY: Slot = Slot {
    start: 0,
    tag: 0,
    length: 0,
    wait_begin: u32::MAX,
    wait_end: u32::MAX,
    name: u32::MAX,
    dispatches: 0,
    copies: 0,
};

/// The name of a note that GPU work left before its call was seen.
const EARLY: u32 = u32::MAX;

/// The most recent calls of one process. Correlation ids count up, so a slot per low bits of the id keeps that many calls.
#[derive(Debug)]
pub(crate) struct Calls {
    slots: Vec<Slot>,
    size: usize,
}

impl Calls {
    /// `size` calls are remembered; a power of two.
    pub(crate) fn new(size: usize) -> Self {
        Self { slots: Vec::new(), size: size.next_power_of_two() }
    }

    fn slot(&mut self, id: i64) -> Option<(&mut Slot, u32)> {
        if id == 0 {
            return None;
        }
        if self.slots.is_empty() {
            self.slots = vec![EMPTY; self.size];
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "only the low bits are wanted"
        )]
        let at = id as usize & (self.size - 1);
        #[expect(clippy::cast_possible_truncation, reason = "ids beyond 2^50 are no counters")]
        let tag = ((id >> self.size.trailing_zeros()) as u32).wrapping_add(1).max(1);
        self.slots.get_mut(at).map(|slot| (slot, tag))
    }

    /// Remembers a call. Returns true when GPU work named it before it started.
    pub(crate) fn insert(&mut self, id: i64, start: i64, end: i64, name: u32, waited: (i64, i64)) -> bool {
        let Some((slot, tag)) = self.slot(id) else { return false };
        let early = slot.tag == tag && slot.name == EARLY;
        let until = |earlier: i64| u32::try_from(start.abs_diff(earlier)).unwrap_or(u32::MAX);
        *slot = Slot {
            start,
            tag,
            length: u32::try_from(start.abs_diff(end)).unwrap_or(u32::MAX),
            wait_begin: until(waited.0),
            wait_end: until(waited.1),
            name,
            dispatches: 0,
            copies: 0,
        };
        early
    }

    /// The call, when it is still remembered. Work whose call has not been seen leaves a note.
    pub(crate) fn find(&mut self, id: i64, work: Work) -> Option<Call> {
        let (slot, tag) = self.slot(id)?;
        if slot.tag == 0 {
            slot.tag = tag;
            return None;
        }
        if slot.tag != tag || slot.name == EARLY {
            return None;
        }
        match work {
            Work::Dispatch => slot.dispatches = slot.dispatches.saturating_add(1),
            Work::Copy => slot.copies = slot.copies.saturating_add(1),
        }
        // A wait out of reach is none: it lies before everything.
        let wait = |distance: u32| {
            if slot.wait_end == u32::MAX { i64::MIN } else { slot.start.saturating_sub(i64::from(distance)) }
        };
        Some(Call {
            start: slot.start,
            end: slot.start.saturating_add(i64::from(slot.length)),
            waited: (wait(slot.wait_begin), wait(slot.wait_end)),
            name: slot.name,
            dispatches: u32::from(slot.dispatches),
            copies: u32::from(slot.copies),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_until_newer_ones_take_their_place() {
        let mut calls = Calls::new(4);
        assert!(!calls.insert(1, 100, 110, 7, (i64::MIN, i64::MIN)));
        let found = calls.find(1, Work::Dispatch).unwrap();
        assert_eq!((found.start, found.end, found.name, found.dispatches), (100, 110, 7, 1));
        assert_eq!(found.waited, (i64::MIN, i64::MIN));
        assert_eq!(calls.find(1, Work::Dispatch).unwrap().dispatches, 2);
        assert_eq!(calls.find(5, Work::Dispatch), None, "another call of the same place");
        calls.insert(5, 200, 210, 7, (150, 190));
        assert_eq!(calls.find(1, Work::Copy), None);
        let found = calls.find(5, Work::Copy).unwrap();
        assert_eq!((found.copies, found.waited), (1, (150, 190)));
        assert_eq!(calls.find(0, Work::Dispatch), None, "0 is no call");
    }

    #[test]
    fn work_before_its_call_is_noticed() {
        let mut calls = Calls::new(4);
        assert_eq!(calls.find(3, Work::Dispatch), None);
        assert!(calls.insert(3, 100, 110, 1, (i64::MIN, i64::MIN)));
        assert!(calls.find(3, Work::Dispatch).is_some());
    }
}
