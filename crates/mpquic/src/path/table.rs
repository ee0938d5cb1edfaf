use super::Path;
use std::slice::{Iter, IterMut};

/// The paths of a connection in order of their IDs: a handful, looked up several times a packet.
#[derive(Debug, Default)]
pub(crate) struct Paths(Vec<Path>);

impl Paths {
    pub fn get(&self, id: &u32) -> Option<&Path> {
        self.0.iter().find(|path| path.id == *id)
    }

    pub fn get_mut(&mut self, id: &u32) -> Option<&mut Path> {
        self.0.iter_mut().find(|path| path.id == *id)
    }

    pub fn contains(&self, id: u32) -> bool {
        self.get(&id).is_some()
    }

    pub fn insert(&mut self, path: Path) {
        let at = self.0.partition_point(|other| other.id < path.id);
        self.0.insert(at, path);
    }

    pub fn remove(&mut self, id: u32) -> Option<Path> {
        let at = self.0.iter().position(|path| path.id == id)?;
        Some(self.0.remove(at))
    }

    pub fn values(&self) -> Iter<'_, Path> {
        self.0.iter()
    }

    pub fn values_mut(&mut self) -> IterMut<'_, Path> {
        self.0.iter_mut()
    }

    /// Those with this ID or a higher one.
    pub fn from(&self, id: u32) -> Iter<'_, Path> {
        self.0[self.0.partition_point(|path| path.id < id)..].iter()
    }
}
