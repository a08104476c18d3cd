//! The operators `LinearClassifier`, `LinearRegressor` and `SVMClassifier`.
//!
//! Sums are taken in 64 bits and rounded once.

use super::attributes::Attributes;
use super::scores::{Transform, classes, logistic};
use super::tensor::{Numbers, Tensor};

/// A linear model: one linear score for each class or target.
pub struct Linear {
    /// The coefficients row by row, one row for each score.
    coefficients: Vec<f64>,
    intercepts: Vec<f64>,
    /// Whether one score belongs to the second of two classes.
    is_binary: bool,
    transform: Transform,
}

impl Linear {
    /// Reads a linear classifier.
    ///
    /// # Errors
    /// What is wrong with the node.
    pub fn classifier(attributes: Attributes<'_>) -> Result<Linear, String> {
        let classes = classes(attributes, "classlabels_ints")?;
        let linear = Linear::read(attributes, classes)?;
        let scores = linear.intercepts.len();
        let is_binary = scores == 1 && classes == 2;
        if scores != classes && !is_binary {
            return Err(format!("it has {scores} scores for {classes} classes"));
        }
        Ok(Linear {
            is_binary,
            ..linear
        })
    }

    /// Reads a linear regressor.
    ///
    /// # Errors
    /// What is wrong with the node.
    pub fn regressor(attributes: Attributes<'_>) -> Result<Linear, String> {
        let targets = attributes.integer("targets").unwrap_or(1);
        let targets = usize::try_from(targets).unwrap_or(0);
        let linear = Linear::read(attributes, targets)?;
        if linear.intercepts.len() != targets {
            return Err(format!(
                "it has {} intercepts for {targets} targets",
                linear.intercepts.len()
            ));
        }
        Ok(linear)
    }

    fn read(attributes: Attributes<'_>, scores: usize) -> Result<Linear, String> {
        let coefficients = doubles(attributes.floats("coefficients"));
        let mut intercepts = doubles(attributes.floats("intercepts"));
        if intercepts.is_empty() && scores <= coefficients.len() {
            intercepts = vec![0.0; scores];
        }
        if intercepts.is_empty()
            || coefficients.is_empty()
            || !coefficients.len().is_multiple_of(intercepts.len())
        {
            return Err(format!(
                "it has {} coefficients for {} scores",
                coefficients.len(),
                intercepts.len()
            ));
        }
        Ok(Linear {
            coefficients,
            intercepts,
            is_binary: false,
            transform: Transform::from_attributes(attributes)?,
        })
    }

    /// Computes the scores of each row.
    ///
    /// # Errors
    /// When the rows have another number of columns.
    pub fn run(&self, input: &Tensor) -> Result<Tensor, String> {
        let width = self.coefficients.len() / self.intercepts.len();
        let rows = rows_of(input, width)?;
        let mut values = Vec::with_capacity(rows.len() / width * self.intercepts.len());
        for row in rows.chunks_exact(width) {
            let coefficients = self.coefficients.chunks_exact(width);
            let scores = coefficients.zip(&self.intercepts);
            let mut scores: Vec<f64> = scores
                .map(|(coefficients, intercept)| dot(row, coefficients) + intercept)
                .collect();
            if self.is_binary {
                scores = self.transform.of_two(scores[0], true).to_vec();
            } else {
                self.transform.apply(&mut scores);
            }
            values.extend(scores.into_iter().map(|score| score as f32));
        }
        let scores = self.intercepts.len() + usize::from(self.is_binary);
        Ok(Tensor {
            shape: vec![values.len() / scores, scores],
            values: Numbers::Floats(values),
        })
    }
}

/// A support vector machine: one score for each pair of classes.
pub struct Machine {
    kernel: Kernel,
    /// The support vectors row by row.
    vectors: Vec<f64>,
    /// The number of columns of a vector.
    width: usize,
    /// The first vector of each class, and at the end the number of all vectors.
    starts: Vec<usize>,
    /// The coefficients of the vectors, for each vector one for every other class: row by row, one
    /// row for each class but the last.
    coefficients: Vec<f64>,
    /// The constants of the scores, one for each pair, in the order (0, 1), (0, 2), …, (1, 2), ….
    rho: Vec<f64>,
    /// The pairs (a, b) of the sigmoids: the probability of a pair's first class is 1 − σ(a·score +
    /// b).
    sigmoids: Vec<(f64, f64)>,
    transform: Transform,
}

#[derive(Clone, Copy)]
enum Kernel {
    Linear,
    Poly { gamma: f64, coef0: f64, degree: f64 },
    Rbf { gamma: f64 },
    Sigmoid { gamma: f64, coef0: f64 },
}

impl Machine {
    /// Reads a support vector classifier.
    ///
    /// # Errors
    /// What is wrong with the node.
    pub fn classifier(attributes: Attributes<'_>) -> Result<Machine, String> {
        let classes = classes(attributes, "classlabels_ints")?;
        let mut starts = vec![0usize];
        for &count in attributes.integers("vectors_per_class") {
            let count = usize::try_from(count).map_err(|_| "it has fewer than no vectors")?;
            let last = starts.last().copied().unwrap_or_default();
            starts.push(last.saturating_add(count));
        }
        let total = starts.last().copied().unwrap_or_default();
        let vectors = doubles(attributes.floats("support_vectors"));
        let coefficients = doubles(attributes.floats("coefficients"));
        let rho = doubles(attributes.floats("rho"));
        let pairs = classes * (classes - 1) / 2;
        let [a, b] = ["prob_a", "prob_b"].map(|name| attributes.floats(name));
        if total == 0 || vectors.is_empty() {
            return Err("it has no support vectors".to_owned());
        }
        if starts.len() != classes + 1
            || !vectors.len().is_multiple_of(total)
            || coefficients.len() / (classes - 1) != total
            || rho.len() != pairs
            || a.len() != b.len()
        {
            return Err("its lists do not have the lengths that its classes need".to_owned());
        }
        // The other scores of the operator are those of pairs; for two classes onnxruntime gives
        // the first class's score as the second's.
        if a.len() != pairs {
            return Err(
                "it gives no probabilities of classes; fit it with them (probability=True)"
                    .to_owned(),
            );
        }
        Ok(Machine {
            kernel: Kernel::from_attributes(attributes)?,
            width: vectors.len() / total,
            vectors,
            starts,
            coefficients,
            rho,
            sigmoids: doubles(a).into_iter().zip(doubles(b)).collect(),
            transform: Transform::from_attributes(attributes)?,
        })
    }

    /// Computes the scores of each row.
    ///
    /// # Errors
    /// When the rows have another number of columns.
    pub fn run(&self, input: &Tensor) -> Result<Tensor, String> {
        let rows = rows_of(input, self.width)?;
        let classes = self.starts.len() - 1;
        let mut values = Vec::with_capacity(rows.len() / self.width * classes);
        for row in rows.chunks_exact(self.width) {
            let scores = self.scores(row);
            let pairs = scores.iter().zip(&self.sigmoids);
            let pairs: Vec<f64> = pairs
                .map(|(score, (a, b))| (1.0 - logistic(a * score + b)).clamp(1e-7, 1.0 - 1e-7))
                .collect();
            let mut scores = coupled(classes, &pairs);
            self.transform.apply(&mut scores);
            values.extend(scores.into_iter().map(|score| score as f32));
        }
        Ok(Tensor {
            shape: vec![values.len() / classes, classes],
            values: Numbers::Floats(values),
        })
    }

    /// Computes the score of each pair of classes, positive for the first of the two.
    fn scores(&self, row: &[f64]) -> Vec<f64> {
        let vectors = self.vectors.chunks_exact(self.width);
        let kernels: Vec<f64> = vectors
            .map(|vector| self.kernel.of_two(row, vector))
            .collect();
        let total = kernels.len();
        let classes = self.starts.len() - 1;
        let mut scores = Vec::with_capacity(self.rho.len());
        for i in 0..classes {
            for j in i + 1..classes {
                let part = |class: usize, line: usize| {
                    let range = self.starts[class]..self.starts[class + 1];
                    let line = &self.coefficients[line * total..(line + 1) * total];
                    dot(&kernels[range.clone()], &line[range])
                };
                scores.push(part(i, j - 1) + part(j, i) + self.rho[scores.len()]);
            }
        }
        scores
    }
}

impl Kernel {
    fn from_attributes(attributes: Attributes<'_>) -> Result<Kernel, String> {
        let parameters = doubles(attributes.floats("kernel_params"));
        let at = |index: usize| parameters.get(index).copied().unwrap_or(0.0);
        let [gamma, coef0, degree] = [at(0), at(1), at(2)];
        match attributes.word("kernel_type") {
            None | Some("LINEAR") => Ok(Kernel::Linear),
            Some("POLY") => Ok(Kernel::Poly {
                gamma,
                coef0,
                degree,
            }),
            Some("RBF") => Ok(Kernel::Rbf { gamma }),
            Some("SIGMOID") => Ok(Kernel::Sigmoid { gamma, coef0 }),
            Some(other) => Err(format!("its kernel_type {other} is not known")),
        }
    }

    fn of_two(self, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Kernel::Linear => dot(x, y),
            Kernel::Poly {
                gamma,
                coef0,
                degree,
            } => (gamma * dot(x, y) + coef0).powf(degree),
            Kernel::Rbf { gamma } => {
                let distance: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
                (-gamma * distance).exp()
            }
            Kernel::Sigmoid { gamma, coef0 } => (gamma * dot(x, y) + coef0).tanh(),
        }
    }
}

/// Computes the probabilities of classes from those of pairs, in the order (0, 1), (0, 2), …: the
/// second method of Wu, Lin and Weng, Probability estimates for multi-class classification by
/// pairwise coupling (2004), as LIBSVM iterates it, with its limits.
fn coupled(classes: usize, pairs: &[f64]) -> Vec<f64> {
    // The probability of the first class of a pair, row by row.
    let mut r = vec![0.0; classes * classes];
    let mut pairs = pairs.iter();
    for i in 0..classes {
        for j in i + 1..classes {
            let first = pairs.next().copied().unwrap_or(0.5);
            r[i * classes + j] = first;
            r[j * classes + i] = 1.0 - first;
        }
    }
    let mut q = vec![vec![0.0; classes]; classes];
    for t in 0..classes {
        for j in (0..classes).filter(|&j| j != t) {
            let [there, back] = [r[j * classes + t], r[t * classes + j]];
            q[t][t] += there * there;
            q[t][j] = -there * back;
        }
    }
    let tolerance = 0.005 / classes as f64;
    let mut p = vec![1.0 / classes as f64; classes];
    for _ in 0..classes.max(100) {
        let mut qp: Vec<f64> = q.iter().map(|line| dot(line, &p)).collect();
        let mut pqp = dot(&p, &qp);
        if qp.iter().all(|value| (value - pqp).abs() < tolerance) {
            break;
        }
        for t in 0..classes {
            let step = (pqp - qp[t]) / q[t][t];
            p[t] += step;
            pqp = (pqp + step * (step * q[t][t] + 2.0 * qp[t])) / (1.0 + step) / (1.0 + step);
            for j in 0..classes {
                qp[j] = (qp[j] + step * q[t][j]) / (1.0 + step);
                p[j] /= 1.0 + step;
            }
        }
    }
    p
}

fn doubles(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Returns the numbers of an input whose rows must have `width` columns.
fn rows_of(input: &Tensor, width: usize) -> Result<Vec<f64>, String> {
    let (_, columns) = input.rows_and_columns()?;
    if columns != width {
        return Err(format!(
            "it takes {width} columns, and its input has {columns}"
        ));
    }
    Ok(input.values.clone().into_doubles())
}
