use crate::*; // so that one line registers an algorithm
use parameters::Values;

parameters::catalogue! {
    /// Every scheduler that can be named in a study file.
    pub enum Algorithm: "scheduler", built by fn(&Values) -> Box<dyn Scheduler>;
    MinRtt: minrtt::INFO, |_| Box::new(minrtt::MinRtt);
    RoundRobin: roundrobin::INFO, |values| Box::new(roundrobin::RoundRobin::new(values));
    Blest: blest::INFO, |_| Box::new(blest::Blest::default());
    Upstream: upstream::INFO, |_| Box::new(upstream::Upstream::default());
    Ecf: ecf::INFO, |values| Box::new(ecf::Ecf::new(values));
    Redundant: redundant::INFO, |_| Box::new(redundant::Redundant::default());
    Daps: daps::INFO, |values| Box::new(daps::Daps::new(values));
    Sttf: sttf::INFO, |values| Box::new(sttf::Sttf::new(values));
    Stms: stms::INFO, |values| Box::new(stms::Stms::new(values));
    Peekaboo: peekaboo::INFO, |values| Box::new(peekaboo::Peekaboo::new(values));
    Alcs: alcs::INFO, |values| Box::new(alcs::Alcs::new(values));
    Weave: weave::INFO, |values| Box::new(weave::Weave::new(values));
    Backup: backup::INFO, |_| Box::new(backup::Backup);
}

impl Algorithm {
    /// Builds a fresh scheduler with the defaults.
    pub fn build(self) -> Box<dyn Scheduler> {
        build(&self.into())
    }
}

/// A scheduler with checked parameters, as a study file names it.
pub type Choice = parameters::Choice<Algorithm>;

/// Builds a fresh scheduler for one connection.
pub fn build(choice: &Choice) -> Box<dyn Scheduler> {
    choice.algorithm().builder()(choice.values())
}
