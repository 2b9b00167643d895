/* A client of HTTP/1.1 for suites and benchmarks: one connection, requests one after another, replies with a length or in chunks.
 */
#ifndef ORCHARD_TESTS_SIM_SERVE_HTTP_CLIENT_H
#define ORCHARD_TESTS_SIM_SERVE_HTTP_CLIENT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct http_answer {
    unsigned status;
    char head[4096];
    char *body; /* with a NUL behind it */
    size_t size;
    unsigned chunks; /* 0 = it had a length */
};

static inline int http_connect(unsigned port)
{
    const struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = 60};
    const int yes = 1, s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0)
        return -1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(s, (const struct sockaddr *)&a, sizeof a) == 0)
        return s;
    close(s);
    return -1;
}

/* A port that nobody listens on now. */
static inline unsigned http_free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    const bool ok =
        s >= 0 && bind(s, (const struct sockaddr *)&a, sizeof a) == 0 && getsockname(s, (struct sockaddr *)&a, &size) == 0;
    if (s >= 0)
        close(s);
    return ok ? ntohs(a.sin_port) : 0;
}

static inline bool http_send(int s, const void *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(s, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

static inline bool http_line(int s, char *line, size_t size)
{
    size_t n = 0;
    while (n + 1 < size && recv(s, &line[n], 1, 0) == 1)
        if (line[n++] == '\n') {
            line[n - 1 - (n > 1 && line[n - 2] == '\r')] = 0;
            return true;
        }
    return false;
}

static inline bool http_bytes(int s, struct http_answer *a, size_t size)
{
    char *const grown = realloc(a->body, a->size + size + 1);
    if (!grown)
        return false;
    a->body = grown;
    for (size_t got = 0; got < size;) {
        const ssize_t n = recv(s, a->body + a->size + got, size - got, 0);
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    a->size += size;
    a->body[a->size] = 0;
    return true;
}

/* A header's value in the head; "" when absent. Storage of the thread. */
static inline const char *http_header(const struct http_answer *a, const char *name)
{
    static _Thread_local char value[200];
    const size_t length = strlen(name);
    for (const char *line = a->head; *line; line = strchr(line, '\n') + 1) {
        if (strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *const begin = line + length + 1 + strspn(line + length + 1, " ");
        snprintf(value, sizeof value, "%.*s", (int)strcspn(begin, "\n"), begin);
        return value;
    }
    return "";
}

static inline bool http_read_head(int s, struct http_answer *a)
{
    char line[1024];
    size_t used = 0;
    if (!http_line(s, line, sizeof line) || sscanf(line, "HTTP/1.1 %u", &a->status) != 1)
        return false;
    if (a->status == 100)
        return http_line(s, line, sizeof line) && http_read_head(s, a);
    while (http_line(s, line, sizeof line)) {
        if (!*line)
            return true;
        used += (size_t)snprintf(a->head + used, sizeof a->head - used, "%.900s\n", line);
        if (used + 1000 > sizeof a->head)
            return false;
    }
    return false;
}

static inline bool http_read(int s, struct http_answer *a)
{
    char line[64];
    memset(a, 0, sizeof *a);
    if (!http_read_head(s, a) || !http_bytes(s, a, 0))
        return false;
    if (strcasecmp(http_header(a, "Transfer-Encoding"), "chunked") != 0)
        return http_bytes(s, a, strtoul(http_header(a, "Content-Length"), NULL, 10));
    for (;;) {
        if (!http_line(s, line, sizeof line))
            return false;
        const size_t size = strtoul(line, NULL, 16);
        if (!http_bytes(s, a, size) || !http_line(s, line, sizeof line))
            return false;
        if (size == 0)
            return true;
        a->chunks++;
    }
}

/* `headers`: lines that end in \r\n, or "". */
static inline bool http_ask(int s, const char *method, const char *path, const char *headers, const void *body, size_t size,
                            struct http_answer *a)
{
    char head[2048];
    snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n%s\r\n", method, path, size,
             headers);
    memset(a, 0, sizeof *a);
    return http_send(s, head, strlen(head)) && (size == 0 || http_send(s, body, size)) && http_read(s, a);
}

#endif
