// NCCL without GPUs, for tests: sends within the process, between buffers in the host's memory. An
// environment variable sets its behaviour:
//
// FAKE_NCCL     code of ncclCommInitAll (0)
//
// Between two ranks, messages are received in the order of sending; a receiver waits for its message.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };

typedef struct Message {
    struct Message *next;
    int from, to;
    size_t count;
    void *bytes;
} Message;

static Message *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_there = PTHREAD_COND_INITIALIZER;
static _Thread_local int groups;

unsigned ncclCommInitAll(void **communicators, int count, const int *devices) {
    const char *code = getenv("FAKE_NCCL");
    if (code) return (unsigned)atoi(code);
    for (int rank = 0; rank < count; rank++) {
        for (int other = 0; other < rank; other++)
            if (devices[other] == devices[rank]) return INVALID_USAGE;
        int *own = malloc(sizeof *own);
        *own = rank;
        communicators[rank] = own;
    }
    return OK;
}
unsigned ncclCommAbort(void *communicator) { return free(communicator), OK; }
unsigned ncclGroupStart(void) { return groups++, OK; }
unsigned ncclGroupEnd(void) { return groups-- > 0 ? OK : INVALID_USAGE; }

unsigned ncclSend(const void *bytes, size_t count, unsigned type, int peer, void *communicator, void *stream) {
    if (type != 1 || !stream || groups != 1) return INVALID_ARGUMENT;
    Message *message = malloc(sizeof *message);
    *message = (Message){NULL, *(int *)communicator, peer, count, malloc(count)};
    memcpy(message->bytes, bytes, count);
    pthread_mutex_lock(&lock);
    Message **last = &first;
    while (*last) last = &(*last)->next;
    *last = message;
    pthread_cond_broadcast(&is_there);
    pthread_mutex_unlock(&lock);
    return OK;
}
unsigned ncclRecv(void *bytes, size_t count, unsigned type, int peer, void *communicator, void *stream) {
    if (type != 1 || !stream || groups != 1) return INVALID_ARGUMENT;
    const int own = *(int *)communicator;
    pthread_mutex_lock(&lock);
    for (;;) {
        Message **at = &first;
        while (*at && ((*at)->from != peer || (*at)->to != own)) at = &(*at)->next;
        if (*at) {
            Message *message = *at;
            *at = message->next;
            pthread_mutex_unlock(&lock);
            const unsigned code = message->count == count ? OK : INVALID_ARGUMENT;
            if (code == OK) memcpy(bytes, message->bytes, count);
            free(message->bytes);
            free(message);
            return code;
        }
        pthread_cond_wait(&is_there, &lock);
    }
}

const char *ncclGetErrorString(unsigned code) { return code == 2 ? "unhandled system error" : NULL; }
