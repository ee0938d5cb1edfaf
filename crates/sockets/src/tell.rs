//! News from connections to whoever watches a driver, as far as that can follow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// News between two looks; further ones are only counted.
const MOST_NEWS: usize = 1000;

/// The end that tells.
#[derive(Debug)]
pub(crate) struct Tell<T> {
    news: SyncSender<T>,
    missed: Arc<AtomicU64>,
}

impl<T> Clone for Tell<T> {
    fn clone(&self) -> Self {
        Self { news: self.news.clone(), missed: self.missed.clone() }
    }
}

impl<T> Tell<T> {
    pub fn say(&self, one: T) {
        if self.news.try_send(one).is_err() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The end that hears.
#[derive(Debug)]
pub(crate) struct News<T> {
    news: Receiver<T>,
    missed: Arc<AtomicU64>,
}

impl<T> News<T> {
    /// What was said since the last call, and last, made by `missed`, how much more was left out.
    pub fn take(&self, missed: impl FnOnce(u64) -> T) -> Vec<T> {
        let mut all: Vec<T> = self.news.try_iter().collect();
        match self.missed.swap(0, Ordering::Relaxed) {
            0 => {}
            count => all.push(missed(count)),
        }
        all
    }
}

/// Both ends.
pub(crate) fn channel<T>() -> (Tell<T>, News<T>) {
    let (news, receiver) = sync_channel(MOST_NEWS);
    let missed = Arc::<AtomicU64>::default();
    (Tell { news, missed: missed.clone() }, News { news: receiver, missed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_counted() {
        let (tell, news) = channel();
        (0..MOST_NEWS as u64 + 7).for_each(|one| tell.say(one));
        let mut heard = news.take(|missed| missed);
        assert_eq!((heard.pop(), heard.len()), (Some(7), MOST_NEWS));
        tell.say(1);
        assert_eq!(news.take(|missed| missed), [1]);
    }
}
