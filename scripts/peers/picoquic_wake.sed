# Sets two timers that picoquic's multipath sender of March 2022 (picoquic/sender.c, d515d2d4) leaves unset, so that its loss
# with several paths can be told apart from theirs. See studies/mpquic-lte/README.md.
#
# Where a path passes its pacer but not its window, nothing wakes the sender for the paths that only wait for their pacers.
/^        path_id = data_path_pacing;$/a\
        if (pacing_time_next < *next_wake_time) *next_wake_time = pacing_time_next;
# After a batch on one path the sender sleeps until that path's pacer, whatever the other paths may send.
/^            cnx->nb_trains_sent++;$/i\
            next_wake_time = current_time;
