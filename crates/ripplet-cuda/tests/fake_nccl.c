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

typedef struct Parcel {
    struct Parcel *next;
    int from, to;
    size_t count;
    void *bytes;
} Parcel;

static Parcel *first;
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
    Parcel *parcel = malloc(sizeof *parcel);
    *parcel = (Parcel){NULL, *(int *)communicator, peer, count, malloc(count)};
    memcpy(parcel->bytes, bytes, count);
    pthread_mutex_lock(&lock);
    Parcel **last = &first;
    while (*last) last = &(*last)->next;
    *last = parcel;
    pthread_cond_broadcast(&is_there);
    pthread_mutex_unlock(&lock);
    return OK;
}
unsigned ncclRecv(void *bytes, size_t count, unsigned type, int peer, void *communicator, void *stream) {
    if (type != 1 || !stream || groups != 1) return INVALID_ARGUMENT;
    const int own = *(int *)communicator;
    pthread_mutex_lock(&lock);
    for (;;) {
        Parcel **at = &first;
        while (*at && ((*at)->from != peer || (*at)->to != own)) at = &(*at)->next;
        if (*at) {
            Parcel *parcel = *at;
            *at = parcel->next;
            pthread_mutex_unlock(&lock);
            const unsigned code = parcel->count == count ? OK : INVALID_ARGUMENT;
            if (code == OK) memcpy(bytes, parcel->bytes, count);
            free(parcel->bytes);
            free(parcel);
            return code;
        }
        pthread_cond_wait(&is_there, &lock);
    }
}

const char *ncclGetErrorString(unsigned code) { return code == 2 ? "unhandled system error" : NULL; }
