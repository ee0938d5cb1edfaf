//! What is behind the first satellite.

use super::config::ViaConfig;
use super::timeline::Reason;
use crate::constellation::Constellation;
use crate::error::OrbitError;
use crate::isl::{Grid, Limits, Sky};
use crate::time::Utc;
use crate::visibility::View;

/// Carries from a satellite to the ground.
pub(super) enum Carrier {
    /// To the nearest gateway that sees it.
    Gateways(Vec<View>),
    /// Over links between satellites to the far end.
    Isl {
        /// The links.
        grid: Grid,
        /// What they can bridge.
        limits: Limits,
        /// The far end.
        far: View,
    },
}

impl Carrier {
    pub(super) fn new(
        via: &ViaConfig,
        constellation: &Constellation,
        start: Utc,
    ) -> Result<Self, OrbitError> {
        match via {
            ViaConfig::Gateway { gateways, .. } if gateways.is_empty() => {
                Err(OrbitError::NoGateways)
            }
            ViaConfig::Gateway { gateways, min_elevation_deg } => {
                let views = gateways.iter().map(|place| View::new(place, *min_elevation_deg, 0.0));
                Ok(Self::Gateways(views.collect::<Result<_, _>>()?))
            }
            ViaConfig::Isl { to, min_elevation_deg, max_range_km, atmosphere_km } => {
                OrbitError::check("max_range_km", *max_range_km, 1.0..=100_000.0)?;
                OrbitError::check("atmosphere_km", *atmosphere_km, 0.0..=1000.0)?;
                let limits = Limits { max_range_km: *max_range_km, atmosphere_km: *atmosphere_km };
                let far = View::new(to, *min_elevation_deg, 0.0)?;
                Ok(Self::Isl { grid: Grid::new(constellation, start), limits, far })
            }
        }
    }

    /// The shortest way from a satellite down to the other end.
    pub(super) fn onward_km(&self, sky: &Sky<'_>, satellite: usize) -> Option<f64> {
        match self {
            Self::Gateways(views) => {
                let position = sky.ecef_km(satellite)?;
                views.iter().filter_map(|view| view.sees(position)).min_by(f64::total_cmp)
            }
            Self::Isl { grid, limits, far } => {
                let route = grid.route(sky, &[(satellite, 0.0)], far, limits);
                route.map(|route| route.length_km)
            }
        }
    }

    /// The satellites on the way from one, which comes first, down to the other end.
    pub(super) fn way(&self, sky: &Sky<'_>, satellite: usize) -> Option<Vec<usize>> {
        match self {
            Self::Gateways(_) => self.onward_km(sky, satellite).map(|_| vec![satellite]),
            Self::Isl { grid, limits, far } => {
                grid.route(sky, &[(satellite, 0.0)], far, limits).map(|route| route.satellites)
            }
        }
    }

    /// Which of the first satellites (with their distances) gives the shortest way.
    pub(super) fn nearest(&self, sky: &Sky<'_>, first: &[(usize, f64)]) -> Option<usize> {
        match self {
            Self::Gateways(_) => {
                let total = |(satellite, up_km): &(usize, f64)| {
                    Some((up_km + self.onward_km(sky, *satellite)?, *satellite))
                };
                let ways = first.iter().filter_map(total);
                ways.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, satellite)| satellite)
            }
            Self::Isl { grid, limits, far } => {
                let route = grid.route(sky, first, far, limits)?;
                route.satellites.first().copied()
            }
        }
    }

    /// What is missing when no visible satellite carries.
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Gateways(_) => Reason::NoGateway,
            Self::Isl { .. } => Reason::NoRoute,
        }
    }
}
