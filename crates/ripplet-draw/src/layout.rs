//! Force-directed layout of circles of different sizes that do not overlap.
//!
//! ```text
//! repeat: every pair repels              by the inverse of the gap between the two circles
//!         a spring pulls its two ends    by the gap, times its strength
//!         all are pulled to the middle   by the distance, so that unconnected parts stay together
//!         each moves at most `heat`      which cools down
//! then:   circles that overlap are pushed apart until none does
//! ```
//!
//! Reference: Fruchterman and Reingold, *Graph Drawing by Force-directed Placement*, 1991; the gap
//! between circles takes the place of the distance between points.
//!
//! Determinism: nothing is random, and the order of additions is fixed.
//!
//! Complexity: `O(circles² + springs)` a step, 300 steps.

/// A circle in the picture's plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Centre, from left to right.
    pub x: f64,
    /// Centre, from top to bottom.
    pub y: f64,
    /// Its radius.
    pub radius: f64,
}

/// An attraction between two circles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Strength, from 0 to 1.
    pub strength: f64,
}

const STEPS: usize = 300;
/// Rounds of pushing overlapping circles apart; far fewer are needed.
const ROUNDS_APART: usize = 400;
/// The gap between two circles that repel with force 1, in mean radii.
const REST: f64 = 1.6;
/// The least gap between two circles in mean radii.
const LEAST_GAP: f64 = 0.4;

/// Returns a circle for each radius, in the order of `radii`, centred at the origin, with the longest extent horizontal.
///
/// Radii must be positive and finite, and springs name circles.
pub fn layout(radii: &[f64], springs: &[Spring]) -> Vec<Circle> {
    if radii.is_empty() {
        return Vec::new();
    }
    let unit = radii.iter().sum::<f64>() / radii.len() as f64;
    let mut circles = sunflower(radii);
    let mut forces = vec![(0.0, 0.0); radii.len()];
    let reach = unit * REST;
    // More circles push harder from the middle; the pull to it keeps up.
    let together = 0.05 + radii.len() as f64 / 200.0;
    for step in 0..STEPS {
        let left = 1.0 - step as f64 / STEPS as f64;
        let heat = reach * (1.2 * left * left + 0.02);
        forces.fill((0.0, 0.0));
        repel(&circles, reach, &mut forces);
        pull(&circles, springs, reach, &mut forces);
        for (circle, &(x, y)) in circles.iter_mut().zip(&forces) {
            let (x, y) = (x - together * circle.x, y - together * circle.y);
            let length = x.hypot(y).max(f64::MIN_POSITIVE);
            let share = length.min(heat) / length;
            circle.x += x * share;
            circle.y += y * share;
        }
    }
    part(&mut circles, LEAST_GAP * unit);
    lengthwise(&mut circles);
    circles
}

/// Returns circles along a spiral, the first in the centre, with room for their areas.
fn sunflower(radii: &[f64]) -> Vec<Circle> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let mut area = 0.0;
    let places = radii.iter().enumerate().map(|(at, &radius)| {
        let far = (2.0 * area + radius * radius / 2.0).sqrt();
        area += radius * radius;
        let angle = at as f64 * golden;
        Circle { x: far * angle.cos(), y: far * angle.sin(), radius }
    });
    places.collect()
}

/// Returns the direction from `b` to `a`, and the gap between the circles.
fn between(a: &Circle, b: &Circle) -> (f64, f64, f64) {
    let (x, y) = (a.x - b.x, a.y - b.y);
    let distance = x.hypot(y);
    if distance < 1e-9 {
        return (1.0, 0.0, -(a.radius + b.radius));
    }
    (x / distance, y / distance, distance - a.radius - b.radius)
}

fn repel(circles: &[Circle], reach: f64, forces: &mut [(f64, f64)]) {
    for a in 0..circles.len() {
        for b in a + 1..circles.len() {
            let (x, y, gap) = between(&circles[a], &circles[b]);
            let push = reach * reach / gap.max(0.2 * reach);
            forces[a].0 += x * push;
            forces[a].1 += y * push;
            forces[b].0 -= x * push;
            forces[b].1 -= y * push;
        }
    }
}

fn pull(circles: &[Circle], springs: &[Spring], reach: f64, forces: &mut [(f64, f64)]) {
    for &Spring { a, b, strength } in springs {
        let (a, b) = (a as usize, b as usize);
        let (x, y, gap) = between(&circles[a], &circles[b]);
        let pull = strength * gap.max(0.0) * gap.max(0.0) / reach;
        forces[a].0 -= x * pull;
        forces[a].1 -= y * pull;
        forces[b].0 += x * pull;
        forces[b].1 += y * pull;
    }
}

/// Pushes circles apart until each pair has a gap; the larger of two moves less.
fn part(circles: &mut [Circle], gap: f64) {
    for _ in 0..ROUNDS_APART {
        let mut moved = false;
        for a in 0..circles.len() {
            for b in a + 1..circles.len() {
                let (x, y, now) = between(&circles[a], &circles[b]);
                if now >= gap * (1.0 - 1e-6) {
                    continue;
                }
                moved = true;
                let areas = circles[a].radius.powi(2) + circles[b].radius.powi(2);
                let share = circles[b].radius.powi(2) / areas;
                let (push_a, push_b) = ((gap - now) * share, (gap - now) * (1.0 - share));
                circles[a].x += x * push_a;
                circles[a].y += y * push_a;
                circles[b].x -= x * push_b;
                circles[b].y -= y * push_b;
            }
        }
        if !moved {
            return;
        }
    }
    spread(circles, gap);
}

/// Enlarges the distances from the origin until each pair has a gap.
fn spread(circles: &mut [Circle], gap: f64) {
    let mut factor = 1.0f64;
    for a in 0..circles.len() {
        for b in a + 1..circles.len() {
            let distance = (circles[a].x - circles[b].x).hypot(circles[a].y - circles[b].y);
            let wanted = circles[a].radius + circles[b].radius + gap;
            factor = factor.max(wanted / distance.max(1e-9 * wanted));
        }
    }
    circles.iter_mut().for_each(|circle| {
        circle.x *= factor;
        circle.y *= factor;
    });
}

/// Rotates the picture so that its longest extent is horizontal, and centres it.
fn lengthwise(circles: &mut [Circle]) {
    let weight: f64 = circles.iter().map(|circle| circle.radius * circle.radius).sum();
    let mean = |of: fn(&Circle) -> f64| {
        let sum: f64 = circles.iter().map(|circle| circle.radius.powi(2) * of(circle)).sum();
        sum / weight
    };
    let (x, y) = (mean(|circle| circle.x), mean(|circle| circle.y));
    let (mut across, mut down, mut both) = (0.0, 0.0, 0.0);
    for circle in circles.iter() {
        across += (circle.x - x).powi(2);
        down += (circle.y - y).powi(2);
        both += (circle.x - x) * (circle.y - y);
    }
    let angle = 0.5 * f64::atan2(2.0 * both, across - down);
    let (sin, cos) = angle.sin_cos();
    for circle in circles {
        let (dx, dy) = (circle.x - x, circle.y - y);
        circle.x = dx * cos + dy * sin;
        circle.y = dy * cos - dx * sin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance(a: &Circle, b: &Circle) -> f64 {
        (a.x - b.x).hypot(a.y - b.y)
    }

    #[test]
    fn what_is_joined_lies_nearer() {
        // Two groups of six, one spring between them.
        let mut springs = Vec::new();
        for group in [0u32, 6] {
            for a in 0..6 {
                for b in a + 1..6 {
                    springs.push(Spring { a: group + a, b: group + b, strength: 1.0 });
                }
            }
        }
        springs.push(Spring { a: 0, b: 6, strength: 0.2 });
        let circles = layout(&[1.0; 12], &springs);
        let mean = |pairs: &[(usize, usize)]| {
            let sum: f64 = pairs.iter().map(|&(a, b)| distance(&circles[a], &circles[b])).sum();
            sum / pairs.len() as f64
        };
        let pairs = |same: bool| -> Vec<_> {
            let all = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
            all.filter(|&(a, b)| (a / 6 == b / 6) == same).collect()
        };
        assert!(mean(&pairs(true)) * 1.5 < mean(&pairs(false)), "{circles:?}");
    }

    #[test]
    fn one_circle_and_none() {
        assert!(layout(&[], &[]).is_empty());
        assert_eq!(layout(&[2.0], &[]), [Circle { x: 0.0, y: 0.0, radius: 2.0 }]);
    }

    proptest! {
        #[test]
        fn no_circles_overlap(
            radii in prop::collection::vec(0.01f64..50.0, 1..40),
            ends in prop::collection::vec((0u32..40, 0u32..40, 0.0f64..1.0), 0..80),
        ) {
            let count = radii.len() as u32;
            let springs: Vec<_> = ends
                .iter()
                .map(|&(a, b, strength)| Spring { a: a % count, b: b % count, strength })
                .filter(|spring| spring.a != spring.b)
                .collect();
            let circles = layout(&radii, &springs);
            prop_assert_eq!(circles.len(), radii.len());
            for (a, first) in circles.iter().enumerate() {
                prop_assert!(first.x.is_finite() && first.y.is_finite());
                for second in &circles[a + 1..] {
                    let gap = distance(first, second) - first.radius - second.radius;
                    prop_assert!(gap > -1e-6, "{} {:?} {:?}", gap, first, second);
                }
            }
        }
    }
}
