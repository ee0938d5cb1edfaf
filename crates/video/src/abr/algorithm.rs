use super::{Abr, bba, bola, bola_e, dynamic, dynamic_dash, fixed};
use super::{mpc, mpc_forecast, mpc_handovers, mpc_oracle, robust_mpc, throughput};
use parameters::Values;

parameters::catalogue! {
    /// Every adaptive bitrate algorithm that can be named in a study file.
    pub enum Algorithm: "ABR algorithm", built by fn(&Values) -> Box<dyn Abr>;
    Fixed: fixed::INFO, |values| Box::new(fixed::Fixed::new(values));
    Throughput: throughput::INFO, |values| Box::new(throughput::Throughput::new(values));
    Bba: bba::INFO, |values| Box::new(bba::Bba::new(values));
    Bola: bola::INFO, |values| Box::new(bola::Bola::new(values));
    BolaE: bola_e::INFO, |values| Box::new(bola_e::BolaE::new(values));
    Dynamic: dynamic::INFO, |_| Box::new(dynamic::Dynamic::new());
    DynamicDash: dynamic_dash::INFO, |values| Box::new(dynamic_dash::DynamicDash::new(values));
    Mpc: mpc::INFO, |values| Box::new(mpc::Mpc::new(values));
    RobustMpc: robust_mpc::INFO, |values| Box::new(robust_mpc::RobustMpc::new(values));
    MpcForecast: mpc_forecast::INFO, |values| Box::new(mpc_forecast::MpcForecast::new(values));
    MpcHandovers: mpc_handovers::INFO, |values| Box::new(mpc_handovers::MpcHandovers::new(values));
    MpcOracle: mpc_oracle::INFO, |values| Box::new(mpc_oracle::MpcOracle::new(values));
}

/// An algorithm with checked parameters, as a study file names it.
pub type Choice = parameters::Choice<Algorithm>;

/// Builds a fresh algorithm for one session.
pub fn build(choice: &Choice) -> Box<dyn Abr> {
    choice.algorithm().builder()(choice.values())
}
