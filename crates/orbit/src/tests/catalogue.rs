use crate::{Constellation, Format, OrbitError, Utc, parse};
use proptest::prelude::*;

/// Satellite 00005 of the verification set of Vallado et al. 2006 (AIAA 2006-6753).
const VANGUARD: &str = "\
VANGUARD 1
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
";
/// The same with a later epoch.
const LATER: &str = "\
1 00005U 58002B   00180.78495062  .00000023  00000-0  28098-4 0  4755
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
";
const JSON: &str = r#"[{"OBJECT_NAME": "VANGUARD 1", "OBJECT_ID": "1958-002B",
 "EPOCH": "2000-06-27T18:50:19.733568", "MEAN_MOTION": 10.82419157, "ECCENTRICITY": 0.1859667,
 "INCLINATION": 34.2682, "RA_OF_ASC_NODE": 348.7242, "ARG_OF_PERICENTER": 331.7664,
 "MEAN_ANOMALY": 19.3264, "EPHEMERIS_TYPE": 0, "CLASSIFICATION_TYPE": "U", "NORAD_CAT_ID": 100005,
 "ELEMENT_SET_NO": 475, "REV_AT_EPOCH": 41366, "BSTAR": 0.000028098,
 "MEAN_MOTION_DOT": 0.00000023, "MEAN_MOTION_DDOT": 0}]"#;
const CSV: &str = "\
OBJECT_NAME,OBJECT_ID,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,\
ARG_OF_PERICENTER,MEAN_ANOMALY,EPHEMERIS_TYPE,CLASSIFICATION_TYPE,NORAD_CAT_ID,ELEMENT_SET_NO,\
REV_AT_EPOCH,BSTAR,MEAN_MOTION_DOT,MEAN_MOTION_DDOT
VANGUARD 1,1958-002B,2000-06-27T18:50:19.733568,10.82419157,0.1859667,34.2682,348.7242,331.7664,\
19.3264,0,U,100005,475,41366,0.000028098,0.00000023,0
";

fn tle(text: &str) -> Result<Constellation, OrbitError> {
    parse(text, "some.tle", Format::Tle)
}

fn refusal(text: &str) -> String {
    tle(text).unwrap_err().to_string()
}

fn position(constellation: &Constellation, minutes: f64) -> [f64; 3] {
    let satellite = &constellation.satellites()[0];
    satellite.state(satellite.epoch().plus_s(minutes * 60.0)).unwrap().position_km
}

#[test]
fn positions_of_the_verification_set_come_out() {
    let vanguard = tle(VANGUARD).unwrap();
    // Output of the reference implementation, tcppver.out.
    let expected = [
        (0.0, [7022.46529266, -1400.08296755, 0.03995155]),
        (360.0, [-7154.03120202, -3783.17682504, -3536.19412294]),
        (1440.0, [-938.55923943, -6268.18748831, -4294.02924751]),
    ];
    for (minutes, wanted) in expected {
        let found = position(&vanguard, minutes);
        for axis in 0..3 {
            let off_m = (found[axis] - wanted[axis]).abs() * 1e3;
            assert!(off_m < 0.05, "{minutes} min: {found:?} is not {wanted:?}");
        }
    }
}

#[test]
fn tle_json_and_csv_say_the_same() {
    let from_tle = tle(VANGUARD).unwrap();
    for (text, format) in [(JSON, Format::Json), (CSV, Format::Csv)] {
        let from_omm = parse(text, "some.omm", format).unwrap();
        let satellite = &from_omm.satellites()[0];
        assert_eq!((satellite.name(), satellite.id()), ("VANGUARD 1", 100_005));
        let (a, b) = (position(&from_tle, 500.0), position(&from_omm, 500.0));
        // The epochs differ by 4 µs: a day with eight decimals against microseconds.
        assert!((0..3).all(|axis| (a[axis] - b[axis]).abs() < 1e-4), "{a:?} {b:?}");
    }
}

#[test]
fn names_and_line_ends_may_be_missing_or_foreign() {
    let two_lines = VANGUARD.split_once('\n').unwrap().1;
    assert_eq!(tle(two_lines).unwrap().satellites()[0].name(), "5");
    let crlf = VANGUARD.replace('\n', "  \r\n");
    assert_eq!(tle(&crlf).unwrap().satellites()[0].name(), "VANGUARD 1");
    let space_track = format!("0 {VANGUARD}");
    assert_eq!(tle(&space_track).unwrap().satellites()[0].name(), "VANGUARD 1");
    let odd_name = VANGUARD.replace("VANGUARD 1", "1 OF 3");
    assert_eq!(tle(&odd_name).unwrap().satellites()[0].name(), "1 OF 3");
}

#[test]
fn alpha_5_numbers_are_read() {
    // A letter counts 0 in the checksum.
    let alpha = VANGUARD.replace("00005", "E0005");
    assert_eq!(tle(&alpha).unwrap().satellites()[0].id(), 140_005);
}

#[test]
fn of_two_element_sets_the_newer_is_kept() {
    for text in [format!("{VANGUARD}{LATER}"), format!("{LATER}{VANGUARD}")] {
        let kept = tle(&text).unwrap();
        assert_eq!(kept.satellites().len(), 1);
        let newer = tle(LATER).unwrap().satellites()[0].epoch();
        assert_eq!(kept.satellites()[0].epoch(), newer);
    }
}

#[test]
fn bad_files_are_refused_with_their_line() {
    let corrupt = VANGUARD.replace("34.2682", "34.2692");
    assert_eq!(
        refusal(&corrupt),
        "some.tle:3: the checksum is `7` but the line adds up to 8; get the file anew"
    );
    let cut = &VANGUARD[..VANGUARD.len() - 10];
    assert!(refusal(cut).starts_with("some.tle:3: 60 characters where an element line has 69"));
    let alone = VANGUARD.split_inclusive('\n').take(2).collect::<String>();
    assert!(refusal(&alone).starts_with("some.tle:2: line 2 of an element set belongs here"));
    assert!(refusal("no elements\nat all\n").starts_with("some.tle:2: line 1 of an element set"));
    assert!(refusal("").contains("some.tle: there is no satellite in it"));
    assert!(refusal(&VANGUARD.replace("58002B", "58002\u{e9}")).contains("not ASCII"));
    let nonsense = VANGUARD.replace("19.3264", "    nan").replace("413667", "413662");
    let said = refusal(&nonsense);
    assert!(said.starts_with("some.tle:2: the mean anomaly is NaN"), "{said}");
}

#[test]
fn bad_messages_are_refused_with_their_line() {
    let json = |text: &str| parse(text, "some.json", Format::Json).unwrap_err().to_string();
    let lacking = json(&JSON.replace("\"MEAN_MOTION\": 10.82419157,", ""));
    assert!(lacking.starts_with("some.json:6: missing field `MEAN_MOTION`"), "{lacking}");
    assert_eq!(json("[]"), "some.json: there is no satellite in it; give at least one element set");
    assert!(json("{").starts_with("some.json:1: "));
    let csv = |text: &str| parse(text, "some.csv", Format::Csv).unwrap_err().to_string();
    let wrong = csv(&CSV.replace("34.2682", "steep"));
    assert!(wrong.starts_with("some.csv:2: "), "{wrong}");
    let steep = csv(&CSV.replace("34.2682", "342.682"));
    assert!(steep.starts_with("some.csv:2: the inclination is 342.682"), "{steep}");
    assert!(csv(&CSV.replace(",0.00000023,0\n", "\n")).starts_with("some.csv:2: "));
}

#[test]
fn ages_count_in_both_directions() {
    let vanguard = tle(VANGUARD).unwrap();
    let epoch = vanguard.satellites()[0].epoch();
    assert_eq!(vanguard.median_epoch(), epoch);
    assert_eq!(vanguard.ages_days(epoch.plus_s(86_400.0)), [1.0]);
    assert_eq!(vanguard.ages_days(epoch.plus_s(-43_200.0)), [0.5]);
    assert_eq!(epoch.nanos() / 1_000_000, Utc::from_unix_s(962_131_819.733).nanos() / 1_000_000);
}

/// Puts the right last digit behind a changed line, so that the change reaches the fields.
fn with_checksum(line: &str) -> String {
    let body: String = line.chars().take(68).collect();
    let value = |c: char| if c == '-' { 1 } else { c.to_digit(10).unwrap_or(0) };
    format!("{body}{}", body.chars().map(value).sum::<u32>() % 10)
}

proptest! {
    #![proptest_config(cases::at_least(2000))]

    /// Whatever stands in a field, it is read, refused with file and line, or has decayed.
    #[test]
    fn no_text_makes_the_reader_panic(
        changes in prop::collection::vec((1_usize..3, 2_usize..68, "[ -~]"), 1..4),
        days in -1000.0..1000.0_f64,
    ) {
        let mut lines: Vec<String> = VANGUARD.lines().map(str::to_owned).collect();
        for (line, column, character) in changes {
            lines[line].replace_range(column..=column, &character);
        }
        let text = [lines[0].clone(), with_checksum(&lines[1]), with_checksum(&lines[2])].join("\n");
        match tle(&text) {
            Ok(read) => {
                let satellite = &read.satellites()[0];
                let state = satellite.state(satellite.epoch().plus_s(days * 86_400.0));
                prop_assert!(state.is_none_or(|s| s.position_km.iter().all(|x| x.is_finite())));
            }
            Err(error) => prop_assert!(error.to_string().starts_with("some.tle:")),
        }
    }

    #[test]
    fn no_file_makes_the_reader_panic(text in "([12] [ -~]{0,80}\n|[^\n]{0,20}\n){0,6}") {
        for format in [Format::Tle, Format::Json, Format::Csv] {
            if let Err(error) = parse(&text, "some.file", format) {
                prop_assert!(error.to_string().starts_with("some.file:"), "{}", error);
            }
        }
    }
}
