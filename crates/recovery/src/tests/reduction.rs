//! Proportional Rate Reduction by the formulas of RFC 6937 §3, as RFC 9937 keeps them.

use crate::Prr;

/// `in_flight` above ssthresh: CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out may leave.
#[test]
fn above_ssthresh_the_share_of_ssthresh_in_the_old_window_leaves() {
    for (prior, ssthresh) in [(20, 10), (20, 14), (100, 70), (8, 4)] {
        let mut prr = Prr::new(prior, ssthresh);
        let (mut in_flight, mut sent) = (prior - 1, 0);
        for delivered in 1..=prior - ssthresh {
            in_flight -= 1;
            if in_flight <= ssthresh {
                break;
            }
            prr.on_ack(1, in_flight, false);
            let expected = (delivered * ssthresh).div_ceil(prior);
            let allowed = prr.cwnd() - in_flight;
            assert_eq!(
                sent + allowed,
                expected.max(sent),
                "{prior} to {ssthresh}, ACK {delivered}"
            );
            (0..allowed).for_each(|_| prr.on_sent());
            in_flight += allowed;
            sent += allowed;
        }
        assert!(sent > 0);
    }
}

/// Below it the slow-start reduction bound: no more than was delivered, and one more where the
/// acknowledgement advanced.
#[test]
fn below_ssthresh_the_window_grows_back_as_slow_start_would() {
    let after = |delivered, in_flight, advanced| {
        let mut prr = Prr::new(20, 10);
        prr.on_ack(delivered, in_flight, advanced);
        prr.cwnd()
    };
    assert_eq!(after(3, 4, false), 7);
    assert_eq!(after(3, 4, true), 8);
    assert_eq!(after(9, 4, true), 10, "never above ssthresh");
}

#[test]
fn the_first_retransmission_leaves_whatever_the_formula_says() {
    let mut prr = Prr::new(1000, 1);
    prr.on_ack(1, 900, false);
    assert_eq!(prr.cwnd(), 901);
    prr.on_sent();
    prr.on_ack(1, 900, false);
    assert_eq!(prr.cwnd(), 900);
}

#[test]
fn an_acknowledgement_that_delivers_nothing_changes_nothing() {
    let mut prr = Prr::new(20, 10);
    prr.on_ack(0, 3, true);
    assert_eq!(prr.cwnd(), 20);
    assert_eq!(Prr::new(0, 0).cwnd(), 1, "a window is never empty");
}
