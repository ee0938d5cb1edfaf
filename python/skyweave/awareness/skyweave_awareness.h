/* Hints of the Skyweave awareness library, read from a page in shared memory.
 *
 * One file, C11 with the atomic builtins of GCC and Clang, nothing to link. Map the page of a path
 * (4,096 bytes, MAP_SHARED, PROT_READ) and ask it:
 *
 *     struct skyaware_hint hint;
 *     if (skyaware_read(page, now_ns, &hint)) { ... }      // else: do as without hints
 *
 * `now_ns` is CLOCK_MONOTONIC in ns, and so are all moments; 0 is not known. A hint may be late,
 * wrong or missing: let each action that follows from it be bounded.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SKYWEAVE_AWARENESS_H
#define SKYWEAVE_AWARENESS_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a page is little-endian; this machine is not"
#endif

#define SKYAWARE_PAGE_BYTES 4096
#define SKYAWARE_VERSION 1
#define SKYAWARE_WORDS 19 /* a hint and its checksum, in 64-bit words */
#define SKYAWARE_TRIES 64
#define SKYAWARE_LONGEST_NS INT64_C(3600000000000)

enum skyaware_kind {
    SKYAWARE_NONE = 0,
    SKYAWARE_SLOT = 1,
    SKYAWARE_HANDOVER = 2,
    SKYAWARE_OUTAGE = 3,
    SKYAWARE_OBSTRUCTION = 4
};

/* What is known ahead of a path. Quantiles are 10 %, 50 % and 90 %, 5 s ahead; NaN: not known. */
struct skyaware_hint {
    int64_t issued_ns;
    int64_t valid_until_ns;
    int64_t boundary_ns;
    int64_t boundary_uncertainty_ns;
    double boundary_probability;
    uint32_t boundary_kind;
    uint32_t reserved;
    int64_t outage_start_ns;
    int64_t outage_end_ns;
    double outage_probability;
    double rtt_ms[3];
    double down_mbps[3];
    double up_mbps[3];
};

/* The page as it lies in memory; `sequence` is odd while the writer writes. */
struct skyaware_page {
    char magic[8];
    uint32_t version;
    uint32_t length;
    uint64_t sequence;
    struct skyaware_hint hint;
    uint64_t checksum;
};

_Static_assert(sizeof(struct skyaware_hint) == 144, "the layout of version 1");
_Static_assert(sizeof(struct skyaware_page) == 176, "the layout of version 1");

/* FNV-1a, 64 bits. */
static inline uint64_t skyaware_checksum(const void *data, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)data;
    uint64_t found = UINT64_C(0xcbf29ce484222325);
    for (size_t place = 0; place < length; place++)
        found = (found ^ bytes[place]) * UINT64_C(0x100000001b3);
    return found;
}

static inline int skyaware_rises(const double three[3])
{
    if (three[0] != three[0] && three[1] != three[1] && three[2] != three[2])
        return 1;
    return 0.0 <= three[0] && three[0] <= three[1] && three[1] <= three[2] && three[2] <= 1e300;
}

static inline int skyaware_valid(const struct skyaware_hint *hint, int64_t now_ns)
{
    return hint->issued_ns > 0 && hint->issued_ns <= now_ns && now_ns < hint->valid_until_ns
        && hint->valid_until_ns - hint->issued_ns <= SKYAWARE_LONGEST_NS
        && hint->boundary_kind <= SKYAWARE_OBSTRUCTION
        && hint->boundary_probability >= 0.0 && hint->boundary_probability <= 1.0
        && hint->outage_probability >= 0.0 && hint->outage_probability <= 1.0
        && hint->boundary_uncertainty_ns >= 0
        && hint->outage_start_ns <= hint->outage_end_ns
        && skyaware_rises(hint->rtt_ms) && skyaware_rises(hint->down_mbps)
        && skyaware_rises(hint->up_mbps);
}

/* Copies the hint of a page that was mapped whole; 1: it holds now, 0: there is none, whatever the
 * reason. Never waits: a writer that is always in the way is as good as none. */
static inline int skyaware_read(const void *mapped, int64_t now_ns, struct skyaware_hint *hint)
{
    const struct skyaware_page *page = (const struct skyaware_page *)mapped;
    const uint64_t *from = (const uint64_t *)(const void *)((const char *)mapped + 24);
    uint64_t words[SKYAWARE_WORDS];
    if (memcmp(page->magic, "SKYAWARE", 8) != 0 || page->version != SKYAWARE_VERSION
        || page->length != sizeof words)
        return 0;
    for (int tries = 0; tries < SKYAWARE_TRIES; tries++) {
        uint64_t before = __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
        if (before % 2 != 0)
            continue;
        for (int word = 0; word < SKYAWARE_WORDS; word++)
            words[word] = __atomic_load_n(&from[word], __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&page->sequence, __ATOMIC_RELAXED) != before)
            continue;
        if (words[SKYAWARE_WORDS - 1] != skyaware_checksum(words, sizeof *hint))
            return 0;
        struct skyaware_hint copy;
        memcpy(&copy, words, sizeof copy);
        if (!skyaware_valid(&copy, now_ns))
            return 0;
        *hint = copy;
        return 1;
    }
    return 0;
}

#endif
