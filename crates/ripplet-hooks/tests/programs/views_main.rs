#[path = "MATH"]
mod math;
#[path = "HOOKS"]
mod hooks;
#[path = "PROGRAM"]
mod program;

use hooks::*;

fn main() {
    for strict in [false, true] {
        let mine = program::Views { bias: 0.25, memory: MEMORY, offset: -9, strict };
        for v in 0..24 {
            let vertex = Vertex { id: v, label: v * 5 };
            println!("pick {}", mine.pick_label(vertex));
            println!("bound {:x}", mine.score_bound(u64::from(v) << v).to_bits());
            for u in 0..24 {
                let neighbor = Neighbor { id: u, label: u + 2, weight: u * v };
                let vote = mine.load_neighbor(vertex, neighbor);
                println!("vote {} {}", vote.label, vote.weight);
                println!("carry {:x}", mine.carry(vertex, neighbor).to_bits());
                let (frequency, total_votes) = (u64::from(u) * 1000 + 1, u64::from(v) * 100_000 + 1);
                let label = u * 5;
                let c = Candidate { label, frequency, total_votes, grand_total: 1 << (u + 10) };
                let score = mine.label_score(vertex, c);
                println!("score {:x}", score.to_bits());
                let carried = u as f32 * 1.5 - v as f32;
                let staged = Default::default();
                let mut vertex = VertexMut { id: v, label: v * 5, carried, frequency, total_votes, staged };
                println!("update {}", mine.update_vertex(&mut vertex, label, score));
                for (slot, index) in [(0, 0), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0)] {
                    println!("staged {slot} {index} {:x}", vertex.read(slot, index));
                }
            }
        }
    }
}
