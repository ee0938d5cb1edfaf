//! Satellites for Python: constellations, what is seen of them, who serves whom.
//! Times are Unix seconds, places are (latitude, longitude, height in metres).

use crate::refuse;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use orbit::{Earth, Place, Satellite, Schedule, ServeConfig, Site, Utc, View};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Coordinates = (f64, f64, f64);

fn place((lat_deg, lon_deg, height_m): Coordinates) -> PyResult<Place> {
    let place = Place { lat_deg, lon_deg, height_m };
    place.check().map_err(refuse)?;
    Ok(place)
}

fn moment(unix_s: f64) -> PyResult<Utc> {
    // Nanoseconds of 64 bits end in 2262.
    if (0.0..=9.2e9).contains(&unix_s) {
        return Ok(Utc::from_unix_s(unix_s));
    }
    Err(refuse(format!("{unix_s} is no Unix time between 1970 and 2261; give seconds")))
}

/// A set of satellites.
#[pyclass(frozen, module = "skyweave._skyweave")]
pub(crate) struct Constellation {
    inner: orbit::Constellation,
}

impl Constellation {
    fn column<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(&Satellite) -> f64,
    ) -> Bound<'py, PyArray1<f64>> {
        self.inner.satellites().iter().map(value).collect::<Vec<_>>().into_pyarray(py)
    }

    fn points<'py>(
        &self,
        py: Python<'py>,
        position: impl Fn(&Satellite) -> Option<[f64; 3]> + Send + Sync,
    ) -> Bound<'py, PyArray2<f64>> {
        let satellites = self.inner.satellites();
        let rows = py.detach(|| -> Vec<[f64; 3]> {
            satellites.iter().map(|s| position(s).unwrap_or([f64::NAN; 3])).collect()
        });
        Array2::from(rows).into_pyarray(py)
    }
}

#[pymethods]
impl Constellation {
    /// Reads a file's text (`format` is tle, json or csv; `file` is its name for messages).
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Self> {
        let format = format.parse().map_err(refuse)?;
        let inner = py.detach(|| orbit::parse(text, file, format)).map_err(refuse)?;
        Ok(Self { inner })
    }

    /// A built-in constellation or shell with its elements at a moment.
    #[staticmethod]
    fn built_in(name: &str, epoch_unix_s: f64) -> PyResult<Self> {
        let inner = orbit::built_in(name, moment(epoch_unix_s)?).map_err(refuse)?;
        Ok(Self { inner })
    }

    fn __len__(&self) -> usize {
        self.inner.satellites().len()
    }

    /// Names in order; the columns of all other methods have the same order.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.satellites().iter().map(|s| s.name().to_owned()).collect()
    }

    /// Catalogue numbers.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.inner.satellites().iter().map(Satellite::id).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The moments that the elements describe.
    #[getter]
    fn epochs_unix_s<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |satellite| satellite.epoch().unix_s())
    }

    /// The median of these moments.
    #[getter]
    fn median_epoch_unix_s(&self) -> f64 {
        self.inner.median_epoch().unix_s()
    }

    /// Days between the elements and a moment; 0 for built-in constellations.
    fn ages_days<'py>(&self, py: Python<'py>, unix_s: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.inner.ages_days(moment(unix_s)?).into_pyarray(py))
    }

    /// The mean elements as columns.
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        let add = |name: &str, value: fn(&Satellite) -> f64| {
            columns.set_item(name, self.column(py, value))
        };
        add("inclination_deg", |s| s.elements().inclination)?;
        add("raan_deg", |s| s.elements().right_ascension)?;
        add("eccentricity", |s| s.elements().eccentricity)?;
        add("argument_of_perigee_deg", |s| s.elements().argument_of_perigee)?;
        add("mean_anomaly_deg", |s| s.elements().mean_anomaly)?;
        add("mean_motion_per_day", |s| s.elements().mean_motion)?;
        add("drag_term", |s| s.elements().drag_term)?;
        Ok(columns)
    }

    /// Azimuth, elevation and range from a place; NaN for what has decayed.
    fn look_angles<'py>(
        &self,
        py: Python<'py>,
        unix_s: f64,
        site: Coordinates,
    ) -> PyResult<Bound<'py, PyDict>> {
        let site = Site::new(&place(site)?).map_err(refuse)?;
        let earth = Earth::at(moment(unix_s)?);
        let satellites = self.inner.satellites();
        let rows = py.detach(|| -> Vec<[f64; 3]> {
            let look = |satellite: &Satellite| {
                let look = site.look(satellite.ecef_km(&earth)?);
                Some([look.azimuth_deg, look.elevation_deg, look.range_km])
            };
            satellites.iter().map(|s| look(s).unwrap_or([f64::NAN; 3])).collect()
        });
        let columns = PyDict::new(py);
        for (index, name) in ["azimuth_deg", "elevation_deg", "range_km"].into_iter().enumerate() {
            let column: Vec<f64> = rows.iter().map(|row| row[index]).collect();
            columns.set_item(name, column.into_pyarray(py))?;
        }
        Ok(columns)
    }

    /// Positions in TEME, a row of x, y, z for each satellite; NaN for what has decayed.
    fn teme_km<'py>(&self, py: Python<'py>, unix_s: f64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let at = moment(unix_s)?;
        Ok(self.points(py, move |satellite| satellite.state(at).map(|state| state.position_km)))
    }

    /// Positions in ECEF likewise.
    fn ecef_km<'py>(&self, py: Python<'py>, unix_s: f64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let earth = Earth::at(moment(unix_s)?);
        Ok(self.points(py, move |satellite| satellite.ecef_km(&earth)))
    }

    /// Latitude, longitude and height in km of what is under each satellite.
    fn ground<'py>(&self, py: Python<'py>, unix_s: f64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let earth = Earth::at(moment(unix_s)?);
        Ok(self.points(py, move |satellite| {
            let place = Place::from_ecef_km(satellite.ecef_km(&earth)?);
            Some([place.lat_deg, place.lon_deg, place.height_m / 1e3])
        }))
    }

    /// The passes over a place within (start, end), in order of their rise.
    fn passes<'py>(
        &self,
        py: Python<'py>,
        span_unix_s: (f64, f64),
        site: Coordinates,
        min_elevation_deg: f64,
        gso_avoidance_deg: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let view = View::new(&place(site)?, min_elevation_deg, gso_avoidance_deg);
        let view = view.map_err(refuse)?;
        let (start, end) = (moment(span_unix_s.0)?, moment(span_unix_s.1)?);
        let passes = py.detach(|| self.inner.passes(&view, start, end));
        let columns = PyDict::new(py);
        let places: Vec<usize> = passes.iter().map(|pass| pass.satellite).collect();
        columns.set_item("satellite", places.into_pyarray(py))?;
        let add = |name: &str, value: fn(&orbit::Pass) -> f64| {
            columns.set_item(name, passes.iter().map(value).collect::<Vec<_>>().into_pyarray(py))
        };
        add("rise_unix_s", |pass| pass.rise.unix_s())?;
        add("culmination_unix_s", |pass| pass.culmination.unix_s())?;
        add("culmination_deg", |pass| pass.culmination_deg)?;
        add("set_unix_s", |pass| pass.set.unix_s())?;
        Ok(columns)
    }

    /// Follows a terminal through a run; `config` is JSON as `orbit::ServeConfig` describes.
    /// Satellites are places in `names`, -1 is none.
    fn serve<'py>(&self, py: Python<'py>, config: &str) -> PyResult<Bound<'py, PyDict>> {
        let config: ServeConfig = serde_json::from_str(config).map_err(refuse)?;
        let schedule = py.detach(|| orbit::serve(&self.inner, &config)).map_err(refuse)?;
        columns_of(py, schedule)
    }

    /// The satellites from `first`, which serves, to the other end at a second of that run; empty
    /// where it has no way on.
    fn way(&self, py: Python<'_>, config: &str, first: usize, time_s: f64) -> PyResult<Vec<usize>> {
        let config: ServeConfig = serde_json::from_str(config).map_err(refuse)?;
        py.detach(|| orbit::way(&self.inner, &config, first, time_s)).map_err(refuse)
    }
}

fn columns_of(py: Python<'_>, schedule: Schedule) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    let floats = |name: &str, values: Vec<f64>| columns.set_item(name, values.into_pyarray(py));
    let (handovers, outages) = (&schedule.handovers, &schedule.outages);
    floats("handover_times_s", handovers.iter().map(|h| h.time_s).collect())?;
    floats("outage_starts_s", outages.iter().map(|outage| outage.start_s).collect())?;
    floats("outage_ends_s", outages.iter().map(|outage| outage.end_s).collect())?;
    let code = |satellite: &Option<usize>| satellite.map_or(-1, |index| index as i64);
    let places = |name: &str, values: Vec<i64>| columns.set_item(name, values.into_pyarray(py));
    places("serving", schedule.serving.iter().map(code).collect())?;
    places("handover_before", handovers.iter().map(|h| h.before as i64).collect())?;
    places("handover_after", handovers.iter().map(|h| h.after as i64).collect())?;
    let reasons: Vec<&str> = outages.iter().map(|outage| outage.reason.name()).collect();
    columns.set_item("outage_reasons", reasons)?;
    for (name, count) in
        [("stale", schedule.stale), ("too_old", schedule.too_old), ("decayed", schedule.decayed)]
    {
        columns.set_item(name, count)?;
    }
    floats("times_s", schedule.times_s)?;
    floats("rtt_ms", schedule.rtt_ms)?;
    floats("serving_times_s", schedule.serving_times_s)?;
    Ok(columns)
}

/// Names of the built-in constellations and shells.
#[pyfunction]
pub(crate) fn shell_names() -> Vec<&'static str> {
    orbit::shell_names()
}

/// Round-trip time through fibre along the great circle, `stretch` times as long.
#[pyfunction]
pub(crate) fn fibre_rtt_ms(a: Coordinates, b: Coordinates, stretch: f64) -> PyResult<f64> {
    Ok(orbit::fibre_rtt_ms(&place(a)?, &place(b)?, stretch))
}
