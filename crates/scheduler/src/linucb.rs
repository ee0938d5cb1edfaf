//! LinUCB, a linear contextual bandit (Li, Chu, Langford, Schapire, WWW 2010, algorithm 1), with the
//! inverse kept up to date by the formula of Sherman and Morrison, and forgetting.

/// Length of a context.
pub(crate) const FEATURES: usize = 6;

/// What the bandit knows about a choice.
pub(crate) type Context = [f64; FEATURES];

/// Forgetting stops while the sum of the eigenvalues of the inverse is above this: directions that
/// no context visits would grow without bound.
const TRACE_LIMIT: f64 = 1e4;

/// What is known of one action.
#[derive(Clone, Debug)]
pub(crate) struct Arm {
    /// Inverse of A = I + sum of x x'.
    inverse: [Context; FEATURES],
    /// b = sum of reward * x.
    b: Context,
}

fn dot(a: &Context, b: &Context) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Default for Arm {
    fn default() -> Self {
        let mut inverse = [[0.0; FEATURES]; FEATURES];
        for (place, row) in inverse.iter_mut().enumerate() {
            row[place] = 1.0;
        }
        Self { inverse, b: [0.0; FEATURES] }
    }
}

impl Arm {
    fn inverse_times(&self, x: &Context) -> Context {
        self.inverse.map(|row| dot(&row, x))
    }

    /// theta . x + alpha * sqrt(x' A^-1 x), theta = A^-1 b (Li et al. 2010, algorithm 1).
    pub(crate) fn score(&self, x: &Context, alpha: f64) -> f64 {
        let spread = self.inverse_times(x); // A is symmetric: theta . x = b . A^-1 x
        dot(&self.b, &spread) + alpha * dot(x, &spread).max(0.0).sqrt()
    }

    /// A <- decay * A + x x', b <- decay * b + reward * x. The inverse by Sherman and Morrison:
    /// (M + x x')^-1 = M^-1 - M^-1 x x' M^-1 / (1 + x' M^-1 x).
    pub(crate) fn learn(&mut self, x: &Context, reward: f64, decay: f64) {
        let trace: f64 = (0..FEATURES).map(|place| self.inverse[place][place]).sum();
        if trace < TRACE_LIMIT {
            self.inverse.iter_mut().flatten().for_each(|entry| *entry /= decay);
            self.b.iter_mut().for_each(|entry| *entry *= decay);
        }
        let spread = self.inverse_times(x);
        let scale = 1.0 + dot(x, &spread);
        for (row, left) in self.inverse.iter_mut().zip(&spread) {
            for (entry, right) in row.iter_mut().zip(&spread) {
                *entry -= left * right / scale;
            }
        }
        for (entry, feature) in self.b.iter_mut().zip(x) {
            *entry += reward * feature;
        }
    }
}
