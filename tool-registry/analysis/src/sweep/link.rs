//! From a dispatch or copy back to the host call that asked for it, with bounded memory.

/// The call behind some GPU work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Internal correlation id; 0 is none.
    pub(crate) id: i64,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The last blocking call of the same thread before it.
    pub(crate) waited: (i64, i64),
    /// Position in the table of names.
    pub(crate) name: u32,
    pub(crate) dispatches: u32,
    pub(crate) copies: u32,
    /// GPU work came before the call itself was seen: two clocks.
    early: bool,
}

const EMPTY: Call = Call {
    id: 0,
    start: 0,
    end: 0,
    waited: (i64::MIN, i64::MIN),
    name: 0,
    dispatches: 0,
    copies: 0,
    early: false,
};

/// The most recent calls of one process. Correlation ids count up, so a slot per low bits of the id keeps that many calls.
#[derive(Debug)]
pub(crate) struct Calls {
    slots: Vec<Call>,
    size: usize,
}

impl Calls {
    /// `size` calls are remembered; a power of two.
    pub(crate) fn new(size: usize) -> Self {
        Self { slots: Vec::new(), size: size.next_power_of_two() }
    }

    fn slot(&mut self, id: i64) -> Option<&mut Call> {
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
        self.slots.get_mut(at)
    }

    /// Remembers a call. Returns true when GPU work named it before it started.
    pub(crate) fn insert(&mut self, id: i64, start: i64, end: i64, name: u32, waited: (i64, i64)) -> bool {
        let Some(slot) = self.slot(id) else { return false };
        let early = slot.id == id && slot.early;
        *slot = Call { id, start, end, name, waited, ..EMPTY };
        early
    }

    /// The call, when it is still remembered. Work whose call has not been seen leaves a note.
    pub(crate) fn find(&mut self, id: i64) -> Option<&mut Call> {
        let slot = self.slot(id)?;
        if slot.id == 0 {
            *slot = Call { id, early: true, ..EMPTY };
        }
        (slot.id == id && !slot.early).then_some(slot)
    }
}
