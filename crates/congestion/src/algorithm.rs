use crate::coupled::Coupled;
use crate::*; // so that one line registers an algorithm
use parameters::Values;

parameters::catalogue! {
    /// Every congestion control that can be named in a study file.
    pub enum Algorithm: "congestion control",
        built by fn(Config, &Values, &Group) -> Box<dyn Controller>;
    NewReno: newreno::INFO, |config, _, _| Box::new(newreno::NewReno::new(config));
    Cubic: cubic::INFO, |config, values, _| Box::new(cubic::Cubic::new(config, values));
    Bbr: bbr::INFO, |config, _, _| Box::new(bbr::Bbr::new(config));
    Bbr2: bbr_v2_v3::V2, |config, values, _| Box::new(bbr_v2_v3::BbrV2V3::v2(config, values));
    Bbr3: bbr_v2_v3::V3, |config, values, _| Box::new(bbr_v2_v3::BbrV2V3::v3(config, values));
    Boundary: boundary::INFO, |config, values, _|
        Box::new(boundary::BoundaryAware::new(config, values));
    LeoCc: leocc::INFO, |config, values, _| Box::new(leocc::LeoCc::new(config, values));
    Headroom: headroom::INFO, |config, values, _| Box::new(headroom::Headroom::new(config, values));
    CubicLinux: cubic::linux::INFO, |config, _, _| Box::new(cubic::linux::LinuxCubic::new(config));
    CubicPicoquic: cubic::picoquic::INFO, |config, _, _|
        Box::new(cubic::picoquic::PicoquicCubic::new(config));
    Fast: fast::INFO, |config, values, _| Box::new(fast::Fast::new(config, values));
    Hybla: hybla::INFO, |config, values, _| Box::new(hybla::Hybla::new(config, values));
    Lia: lia::INFO, |config, _, group| Box::new(Coupled::new(config, group, lia::Lia));
    Olia: olia::INFO, |config, _, group|
        Box::new(Coupled::new(config, group, olia::Olia::default()));
    Balia: balia::INFO, |config, values, group|
        Box::new(Coupled::new(config, group, balia::Balia::new(values)));
    WVegas: wvegas::INFO, |config, values, group|
        Box::new(wvegas::WVegas::new(config, values, group));
}

impl Algorithm {
    /// Builds a fresh controller with the defaults, coupled to no other.
    pub fn build(self, config: Config) -> Box<dyn Controller> {
        build(&self.into(), config, &Group::new())
    }
}

/// A congestion control with checked parameters, as a study file names it.
pub type Choice = parameters::Choice<Algorithm>;

/// Builds a fresh controller for one path; coupled ones join `group`, which all paths of a
/// connection share.
pub fn build(choice: &Choice, config: Config, group: &Group) -> Box<dyn Controller> {
    choice.algorithm().builder()(config, choice.values(), group)
}
