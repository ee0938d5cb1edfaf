use super::world::*;
use crate::*;
use units::Direction;

#[test]
fn a_transfer_is_done_with_its_last_byte_either_way_on_either_transport() {
    for direction in [Direction::Down, Direction::Up] {
        for kind in [Kind::tcp(), Kind::quic()] {
            let bulk = Bulk { direction, bytes: Some(95_000), duration_s: None };
            let mut world = World::new(kind, &bulk);
            world.run(seconds(10.0));
            let receiver = if direction == Direction::Down { CLIENT } else { SERVER };
            assert!(world.ends[receiver].is_done());
            assert!(!world.ends[1 - receiver].is_done(), "a source waits for nothing");
        }
    }
}

#[test]
fn a_transfer_without_size_is_never_done() {
    let bulk = Bulk { direction: Direction::Down, bytes: None, duration_s: Some(1.0) };
    let mut world = World::new(Kind::tcp(), &bulk);
    world.run(seconds(1.0));
    assert!(!world.ends.iter().any(|end| end.is_done()));
    assert!(world.rows(CLIENT).is_empty());
}
