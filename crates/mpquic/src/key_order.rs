use crate::error::{Code, TransportError};
use std::collections::BTreeMap;

/// The numbers of a path's packets with the present keys, and the highest with keys before.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    older_to: Option<u64>,
    present: Option<(u64, u64)>,
}

/// In which order the peer's packets of each path use its keys: none may use older keys than one with
/// a lower number (RFC 9001 §6.4).
#[derive(Debug, Default)]
pub(crate) struct KeyOrder {
    paths: BTreeMap<u32, Numbers>,
}

impl KeyOrder {
    /// A packet with the present keys was authentic.
    ///
    /// # Errors
    /// KEY_UPDATE_ERROR: a later one had older keys.
    pub fn on_present(&mut self, path: u32, number: u64) -> Result<(), TransportError> {
        let of = self.paths.entry(path).or_default();
        if of.older_to.is_some_and(|older| number < older) {
            return Err(out_of_order());
        }
        let (from, to) = of.present.unwrap_or((number, number));
        of.present = Some((from.min(number), to.max(number)));
        Ok(())
    }

    /// A packet with the keys before was authentic.
    ///
    /// # Errors
    /// KEY_UPDATE_ERROR: an earlier one had newer keys.
    pub fn on_older(&mut self, path: u32, number: u64) -> Result<(), TransportError> {
        let of = self.paths.entry(path).or_default();
        if of.present.is_some_and(|(from, _)| number > from) {
            return Err(out_of_order());
        }
        of.older_to = of.older_to.max(Some(number));
        Ok(())
    }

    /// A packet with the next keys was authentic, and will make them the present ones.
    ///
    /// # Errors
    /// KEY_UPDATE_ERROR: a later one had older keys.
    pub fn check_next(&self, path: u32, number: u64) -> Result<(), TransportError> {
        let last = |of: &Numbers| of.present.map(|(_, to)| to).max(of.older_to);
        let late = self.paths.get(&path).and_then(last).is_some_and(|last| number < last);
        if late { Err(out_of_order()) } else { Ok(()) }
    }

    /// The present keys are those before, from now on.
    pub fn on_update(&mut self) {
        for of in self.paths.values_mut() {
            of.older_to = of.older_to.max(of.present.take().map(|(_, to)| to));
        }
    }

    /// A path is over.
    pub fn forget(&mut self, path: u32) {
        self.paths.remove(&path);
    }
}

fn out_of_order() -> TransportError {
    TransportError::new(Code::KeyUpdate, "older keys than a packet before had")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_packets_have_older_keys_and_lower_numbers() {
        let mut order = KeyOrder::default();
        order.on_present(0, 5).unwrap();
        order.on_present(0, 9).unwrap();
        assert!(order.check_next(0, 8).is_err() && order.check_next(0, 12).is_ok());
        order.on_update();
        order.on_present(0, 12).unwrap();
        order.on_older(0, 11).unwrap();
        assert_eq!(order.on_older(0, 13).unwrap_err().code, Code::KeyUpdate);
        assert_eq!(order.on_present(0, 10).unwrap_err().code, Code::KeyUpdate);
        order.on_older(1, 40).unwrap();
        order.forget(0);
        order.on_older(0, 99).unwrap();
    }
}
