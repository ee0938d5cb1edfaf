/// One in the fixed-point numbers of the gain (leocc.c `LEOCC_UNIT`).
const UNIT: u64 = 256;
/// Variances of the process and of a measurement (leocc.c `var_Q`, `var_R`): numbers without a unit,
/// the same for rates and RTTs, so that the gain settles at 153/256 whatever is measured.
const PROCESS: u64 = 4;
const MEASUREMENT: u64 = 4;
/// leocc.c `leocc_init`.
const INITIAL_VARIANCE: u64 = 25;

/// A scalar Kalman filter in whole numbers, as leocc.c has it: estimate 0 at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kalman {
    estimate: u64,
    variance: u64,
}

impl Default for Kalman {
    fn default() -> Self {
        Self { estimate: 0, variance: INITIAL_VARIANCE }
    }
}

impl Kalman {
    pub(super) fn get(&self) -> u64 {
        self.estimate
    }

    pub(super) fn update(&mut self, measured: u64) {
        self.variance += PROCESS;
        let gain = self.variance * UNIT / (self.variance + MEASUREMENT);
        let sum = u128::from(UNIT - gain) * u128::from(self.estimate)
            + u128::from(gain) * u128::from(measured);
        self.estimate = (sum / u128::from(UNIT)) as u64; // no larger than the larger of both
        self.variance = (UNIT - gain) * self.variance / UNIT;
    }
}
