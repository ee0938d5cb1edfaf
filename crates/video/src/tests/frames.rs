use crate::{FrameTable, Ladder, VideoError};
use units::Duration;

#[test]
fn the_built_in_film_is_the_one_of_the_study() {
    let film = FrameTable::named("cbr").expect("built in");
    assert_eq!(film.count(), 5400);
    assert_eq!(film.duration(), Duration::from_secs(180));
    // 118 MB in 3 minutes: 5.24 Mbit/s (targets of VIDEO-LEO). What follows the last picture is sound.
    assert!((117_850_000..=117_857_326).contains(&film.file_bytes()), "{}", film.file_bytes());
    let steps = film.step_ends(Duration::from_millis(250));
    assert_eq!(steps.len(), 720);
    assert_eq!(steps.last(), Some(&film.file_bytes()));
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
}

/// Stream 0 shows 0, 2, 1, 3 in the order of the file; stream 1 is sound.
const TABLE: &str = "0,0.0,-0.04,100,50\n1,0.0,0.0,40,150,\n\n0,0.08,0.0,60,190\n\
                     0,0.04,0.04,20,250\n0,0.12,,30,270\n";

#[test]
fn pictures_need_all_of_the_file_before_them() {
    let film = FrameTable::parse(TABLE).expect("a table");
    assert_eq!(film.count(), 4);
    assert_eq!(film.time(1), Duration::from_millis(40));
    assert_eq!(film.duration(), Duration::from_millis(160));
    // The second one shown is the third of the file; the third one shown was there before it.
    assert_eq!(film.needed_bytes(0), [150, 270, 270, 300]);
    // The n-th comes out with the one after it in the file.
    assert_eq!(film.needed_bytes(1), [250, 270, 300, 300]);
    assert_eq!(film.needed_bytes(9), [300; 4]);
}

#[test]
fn a_step_ends_with_the_picture_that_is_decoded_at_its_end() {
    // The third of the file is shown 40 ms before its turn: decoding begins 40 ms before showing.
    let film = FrameTable::parse(TABLE).expect("a table");
    assert_eq!(film.step_ends(Duration::from_millis(40)), [270, 300]);
    assert_eq!(film.step_ends(Duration::from_millis(80)), [300]);
}

#[test]
fn a_gap_in_a_film_is_a_step_without_bytes() {
    let film = FrameTable::parse("0,0,0,10,0\n0,1.1,1,10,10").expect("a table");
    let steps = film.step_ends(Duration::from_millis(250));
    assert_eq!(steps, [10, 10, 10, 10, 20]);
}

#[test]
fn a_table_that_cannot_be_is_refused_with_its_line() {
    let refused = |text: &str| FrameTable::parse(text).expect_err(text).to_string();
    assert!(refused("").contains("no video track, or no index"));
    assert!(refused("1,0,0,5,6").contains("no video track, or no index"));
    assert!(refused("0,0,0,5,6\n0,1").contains("line 2 of the frame table has no decoding time"));
    assert!(refused("0,N/A,0,5,6").contains("line 1 of the frame table has no presentation time"));
    assert!(refused("0,0,0,-5,6").contains("no size"));
    assert!(refused("0,0,0,5,N/A").contains("no position"));
    assert!(refused("0,1e9,0,5,6").contains("presentation time out of range"));
    assert!(refused("0,NaN,0,5,6").contains("presentation time out of range"));
    assert!(refused("0,0,0,5,18446744073709551615").contains("position out of range"));
    assert!(FrameTable::named("x").expect_err("unknown").to_string().contains("'x'"));
}

#[test]
fn more_pictures_than_fit_are_refused() {
    let table = "0,0,0,5,6\n".repeat(crate::MAX_PICTURES + 1);
    let error = FrameTable::parse(&table).expect_err("too many");
    assert!(matches!(error, VideoError::TooMany { .. }), "{error}");
}

#[test]
fn a_ladder_that_cannot_be_is_refused_in_a_sentence() {
    let refused = |chunk_s: f64, mbps: &[f64], bytes: &[&[u64]]| {
        let bytes = bytes.iter().map(|sizes| sizes.to_vec()).collect();
        Ladder::new(chunk_s, mbps.to_vec(), bytes).expect_err("no ladder").to_string()
    };
    assert!(refused(4.0, &[2.0, 1.0], &[&[5, 6]]).contains("must rise"));
    assert!(refused(4.0, &[], &[&[]]).contains("must rise"));
    assert!(refused(4.0, &[0.0], &[&[5]]).contains("must rise"));
    assert!(refused(4.0, &[f64::NAN], &[&[5]]).contains("must rise"));
    assert!(refused(0.0, &[1.0], &[&[5]]).contains("chunk_s = 0"));
    assert!(refused(4.0, &[1.0], &[]).contains("the number of chunks = 0"));
    assert!(refused(4.0, &[1.0, 2.0], &[&[5, 6], &[5]]).contains("chunk 1 has a hole"));
    assert!(refused(4.0, &[1.0], &[&[0]]).contains("chunk 0 has a hole"));
    let rising: Vec<f64> = (1..=21).map(f64::from).collect();
    assert!(Ladder::constant(4.0, rising, 3).expect_err("21").to_string().contains("more than 20"));
    assert!(Ladder::constant(4.0, vec![1.0], usize::MAX).is_err());
}
