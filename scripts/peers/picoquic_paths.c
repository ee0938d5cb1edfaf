/* A client of picoquic (d515d2d4, March 2022) that downloads over every interface that is up.
 *
 *     picoquic_paths SERVER PORT BYTES SECONDS
 *
 * An interface that comes up gets a socket of its own, hence another address, and a path; when it goes down
 * its path is abandoned as soon as picoquic allows that: as long as another one is there. A transfer
 * that is not complete ends after SECONDS. One line of JSON says when the last byte came, what came over each
 * path in each tenth of a second, and what became of paths.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "picoquic.h"
#include "picoquic_internal.h"

#define MOST_CELLS 512
#define TENTHS 6000
#define POLL_MS 20
/* A cell is asked when it answers: 50 ms after it was chosen, in these drives. */
#define SILENT_US 60000

/* An interface at one cell: from when it came up until it went down. */
typedef struct {
    int index;
    uint64_t since;
    struct sockaddr_in local;
    int fd;
    int is_up, is_path, is_abandoned;
    uint32_t by_tenth[TENTHS];
} cell_t;

static cell_t cells[MOST_CELLS];
static int cell_count;
static uint64_t started, finished;
static uint64_t received;
static int is_over, added, refused, abandoned;
static size_t wanted;

static int tenth_of(uint64_t now)
{
    uint64_t tenth = (now - started) / 100000;
    return tenth < TENTHS ? (int)tenth : TENTHS - 1;
}

static void fail(const char* what)
{
    perror(what);
    exit(1);
}

static int on_stream(picoquic_cnx_t* cnx, uint64_t stream, uint8_t* bytes, size_t length,
    picoquic_call_back_event_t event, void* context, void* of_stream)
{
    (void)cnx, (void)stream, (void)bytes, (void)context, (void)of_stream;
    switch (event) {
    case picoquic_callback_stream_data:
    case picoquic_callback_stream_fin:
        received += length;
        if (received >= wanted) {
            finished = picoquic_current_time();
            is_over = 1;
        }
        break;
    case picoquic_callback_stream_reset:
    case picoquic_callback_stateless_reset:
    case picoquic_callback_close:
    case picoquic_callback_application_close:
        is_over = 1;
        break;
    default:
        break;
    }
    return 0;
}

static void open_cell(const struct ifaddrs* one)
{
    cell_t* cell = &cells[cell_count];
    socklen_t length = sizeof(cell->local);
    int room = 4 << 20;
    if (cell_count == MOST_CELLS) fail("too many handovers");
    memset(cell, 0, sizeof(*cell));
    cell->index = (int)if_nametoindex(one->ifa_name);
    memcpy(&cell->local, one->ifa_addr, sizeof(cell->local));
    if ((cell->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) < 0) fail("socket");
    if (bind(cell->fd, (struct sockaddr*)&cell->local, sizeof(cell->local)) < 0) fail("bind");
    if (getsockname(cell->fd, (struct sockaddr*)&cell->local, &length) < 0) fail("getsockname");
    (void)setsockopt(cell->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
    cell->since = picoquic_current_time();
    cell->is_up = 1;
    cell_count++;
}

static int is_known(int index)
{
    for (int i = 0; i < cell_count; i++)
        if (cells[i].is_up && cells[i].index == index) return 1;
    return 0;
}

/* Open a cell for each interface that is up and has none. */
static void look_at_interfaces(void)
{
    struct ifaddrs *all, *one;
    if (getifaddrs(&all) < 0) fail("getifaddrs");
    for (one = all; one != NULL; one = one->ifa_next) {
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET) continue;
        if ((one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP)) continue;
        if (!is_known((int)if_nametoindex(one->ifa_name))) open_cell(one);
    }
    freeifaddrs(all);
}

/* Each change in its turn: an interface may be up again before it is looked at. */
static void hear_of_links(int links)
{
    char said[16384];
    ssize_t got;
    while ((got = recv(links, said, sizeof(said), 0)) > 0) {
        struct nlmsghdr* one = (struct nlmsghdr*)said;
        for (; NLMSG_OK(one, got); one = NLMSG_NEXT(one, got)) {
            const struct ifinfomsg* link = NLMSG_DATA(one);
            if (one->nlmsg_type != RTM_NEWLINK && one->nlmsg_type != RTM_DELLINK) continue;
            if (one->nlmsg_type == RTM_NEWLINK && (link->ifi_flags & IFF_UP)) continue;
            for (int i = 0; i < cell_count; i++)
                if (cells[i].index == link->ifi_index) cells[i].is_up = 0;
        }
    }
    look_at_interfaces();
}

static int path_of(picoquic_cnx_t* cnx, const cell_t* cell)
{
    for (int i = 0; i < cnx->nb_paths; i++)
        if (picoquic_compare_addr((struct sockaddr*)&cnx->path[i]->local_addr, (struct sockaddr*)&cell->local) == 0)
            return i;
    return -1;
}

static int has_another(picoquic_cnx_t* cnx, int but)
{
    for (int i = 0; i < cnx->nb_paths; i++)
        if (i != but && cnx->path[i]->challenge_verified && !cnx->path[i]->path_is_demoted) return 1;
    return 0;
}

static void manage_paths(picoquic_cnx_t* cnx, struct sockaddr* server, uint64_t now)
{
    if (picoquic_get_cnx_state(cnx) != picoquic_state_ready || !cnx->is_multipath_enabled) return;
    for (int i = 0; i < cell_count; i++) {
        cell_t* cell = &cells[i];
        int path = path_of(cnx, cell);
        cell->is_path |= path >= 0;
        if (cell->is_up && !cell->is_path && now - cell->since >= SILENT_US) {
            if (picoquic_probe_new_path(cnx, server, (struct sockaddr*)&cell->local, now) == 0) {
                cell->is_path = 1;
                added++;
            } else {
                refused++;
            }
        } else if (!cell->is_up && !cell->is_abandoned && path >= 0 && has_another(cnx, path)) {
            cell->is_abandoned = picoquic_abandon_path(cnx, path, 0, "the interface went") == 0;
            abandoned += cell->is_abandoned;
        }
    }
}

static void receive_all(picoquic_quic_t* quic)
{
    uint8_t bytes[1536];
    struct sockaddr_storage from;
    for (int i = 0; i < cell_count; i++) {
        for (;;) {
            socklen_t length = sizeof(from);
            ssize_t got = recvfrom(cells[i].fd, bytes, sizeof(bytes), 0, (struct sockaddr*)&from, &length);
            if (got <= 0) break;
            cells[i].by_tenth[tenth_of(picoquic_current_time())] += (uint32_t)got;
            (void)picoquic_incoming_packet(quic, bytes, (size_t)got, (struct sockaddr*)&from,
                (struct sockaddr*)&cells[i].local, 0, 0, picoquic_current_time());
        }
    }
}

static int socket_for(const struct sockaddr_storage* local)
{
    for (int i = 0; i < cell_count; i++)
        if (picoquic_compare_addr((const struct sockaddr*)local, (struct sockaddr*)&cells[i].local) == 0)
            return cells[i].fd;
    for (int i = 0; i < cell_count; i++)
        if (cells[i].is_up) return cells[i].fd;
    return cells[0].fd;
}

static void send_all(picoquic_quic_t* quic)
{
    uint8_t bytes[1536];
    for (;;) {
        struct sockaddr_storage to, from;
        size_t length = 0;
        int interface = 0;
        picoquic_connection_id_t id;
        picoquic_cnx_t* last = NULL;
        int ret = picoquic_prepare_next_packet(
            quic, picoquic_current_time(), bytes, sizeof(bytes), &length, &to, &from, &interface, &id, &last);
        if (ret != 0) is_over = 1;
        if (ret != 0 || length == 0) return;
        /* What an interface that is down does not take is lost, as on its link. */
        (void)sendto(socket_for(&from), bytes, length, 0, (struct sockaddr*)&to, sizeof(struct sockaddr_in));
    }
}

static int watch_links(void)
{
    struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0 || bind(fd, (struct sockaddr*)&address, sizeof(address)) < 0) fail("netlink");
    return fd;
}

static void wait_for_something(picoquic_quic_t* quic, int links)
{
    static struct pollfd polled[MOST_CELLS + 1];
    int64_t delay_us = picoquic_get_next_wake_delay(quic, picoquic_current_time(), POLL_MS * 1000);
    for (int i = 0; i < cell_count; i++) polled[i] = (struct pollfd) { .fd = cells[i].fd, .events = POLLIN };
    polled[cell_count] = (struct pollfd) { .fd = links, .events = POLLIN };
    (void)poll(polled, (nfds_t)cell_count + 1, (int)((delay_us + 999) / 1000));
    if (polled[cell_count].revents) hear_of_links(links);
}

static void say(picoquic_cnx_t* cnx)
{
    double seconds = ((finished ? finished : picoquic_current_time()) - started) / 1e6;
    printf("{\"bytes\": %llu, \"is_complete\": %s, \"seconds\": %.6f, \"added\": %d, \"refused\": %d, "
           "\"abandoned\": %d, \"is_multipath\": %s, \"local_error\": %llu, \"remote_error\": %llu, \"cells\": [",
        (unsigned long long)received, finished ? "true" : "false", seconds, added, refused, abandoned,
        cnx->is_multipath_enabled ? "true" : "false", (unsigned long long)picoquic_get_local_error(cnx),
        (unsigned long long)picoquic_get_remote_error(cnx));
    for (int i = 0; i < cell_count; i++) {
        char name[INET_ADDRSTRLEN];
        (void)inet_ntop(AF_INET, &cells[i].local.sin_addr, name, sizeof(name));
        printf("%s{\"address\": \"%s\", \"since_s\": %.3f, \"by_tenth\": [", i ? ", " : "", name,
            (double)(cells[i].since - started) / 1e6);
        for (int j = 0; j < TENTHS && j <= (int)(seconds * 10); j++)
            printf("%s%u", j ? ", " : "", cells[i].by_tenth[j]);
        printf("]}");
    }
    printf("]}\n");
}

int main(int argc, char** argv)
{
    struct sockaddr_in server = { .sin_family = AF_INET };
    char request[64];
    if (argc != 5) {
        fprintf(stderr, "picoquic_paths SERVER PORT BYTES SECONDS\n");
        return 2;
    }
    server.sin_port = htons((uint16_t)atoi(argv[2]));
    wanted = strtoull(argv[3], NULL, 10);
    if (inet_pton(AF_INET, argv[1], &server.sin_addr) != 1) fail("address of the server");
    started = picoquic_current_time();
    uint64_t deadline = started + strtoull(argv[4], NULL, 10) * 1000000;

    int links = watch_links();
    look_at_interfaces();
    picoquic_quic_t* quic = picoquic_create(
        8, NULL, NULL, NULL, "hq-interop", NULL, NULL, NULL, NULL, NULL, started, NULL, NULL, NULL, 0);
    if (quic == NULL) fail("picoquic_create");
    picoquic_set_null_verifier(quic);
    picoquic_set_default_multipath_option(quic, 2); /* a space of packet numbers for each path */
    picoquic_cnx_t* cnx = picoquic_create_client_cnx(
        quic, (struct sockaddr*)&server, started, 0, "server", "hq-interop", on_stream, NULL);
    if (cnx == NULL) fail("picoquic_create_client_cnx");
    if (cell_count > 0) (void)picoquic_set_local_addr(cnx, (struct sockaddr*)&cells[0].local);
    snprintf(request, sizeof(request), "GET /%zu\r\n", wanted);
    if (picoquic_add_to_stream(cnx, 0, (uint8_t*)request, strlen(request), 1) != 0) fail("request");

    while (!is_over && picoquic_current_time() < deadline) {
        if (cell_count > 0) {
            receive_all(quic);
            manage_paths(cnx, (struct sockaddr*)&server, picoquic_current_time());
            send_all(quic);
        }
        if (!is_over) wait_for_something(quic, links);
    }
    say(cnx);
    return finished ? 0 : 1;
}
