/* Fails one call of the C library in its turn, for processes that are started with this in LD_PRELOAD.
 *
 * FAULT names the call and how it fails, FAULT_AT which call it is, from 1; calls are counted from when the
 * process has installed its handler of SIGABRT on. FAULT_COUNT names a file that gets, at the end, a line for
 * each stack of callers, as what is called in a loop has one: its hash, and the numbers of its first and its last
 * call; and the number of all calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum call { NONE, ALLOC, OPEN, MAP, READ, WRITE, SYNC, RENAME, THREAD };
enum way { REFUSED, INTERRUPTED, SHORT };

static enum call call;
static enum way way;
static int stays; /* Whether all later calls fail, too. */
static long at;
static const char *count_to;
static atomic_long calls;
static atomic_int started;

/* The stacks of callers that were seen, by their hashes: a table with open addressing. */
enum { STACKS = 1 << 16, FRAMES = 128 };
static struct { unsigned long hash; long first, last; } stacks[STACKS];
static long stack_count;
static pthread_mutex_t stacks_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int counting;
/* Where the command's own code is: elsewhere in each process. */
static unsigned long code_begin, code_end;

static int find_code(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  code_begin = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = object->dlpi_phdr + i;
    unsigned long end = code_begin + part->p_vaddr + part->p_memsz;
    if (part->p_type == PT_LOAD && end > code_end) code_end = end;
  }
  return 1; /* The first object is the command. */
}

__attribute__((constructor)) static void begin(void) {
  static const struct { const char *name; enum call call; enum way way; int stays; } FAULTS[] = {
    {"alloc", ALLOC, REFUSED, 0},     {"alloc-on", ALLOC, REFUSED, 1},
    {"read", READ, REFUSED, 0},       {"read-interrupted", READ, INTERRUPTED, 0},
    {"read-short", READ, SHORT, 1},   {"write-full", WRITE, REFUSED, 1},
    {"write-interrupted", WRITE, INTERRUPTED, 0}, {"write-short", WRITE, SHORT, 1},
    {"sync", SYNC, REFUSED, 0},       {"rename", RENAME, REFUSED, 0},
    {"thread", THREAD, REFUSED, 1},   {"open", OPEN, REFUSED, 0},
    {"map", MAP, REFUSED, 0},
  };
  const char *fault = getenv("FAULT"), *place = getenv("FAULT_AT");
  count_to = getenv("FAULT_COUNT");
  at = place ? atol(place) : 0;
  if (count_to) dl_iterate_phdr(find_code, NULL);
  for (size_t i = 0; fault && i < sizeof FAULTS / sizeof *FAULTS; i++)
    if (!strcmp(fault, FAULTS[i].name))
      call = FAULTS[i].call, way = FAULTS[i].way, stays = FAULTS[i].stays;
}

__attribute__((destructor)) static void end(void) {
  if (!count_to) return;
  int file = syscall(SYS_openat, AT_FDCWD, count_to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  char text[80];
  for (size_t i = 0; i < STACKS; i++) {
    if (!stacks[i].hash) continue;
    int length = snprintf(text, sizeof text, "%lu %ld %ld\n", stacks[i].hash, stacks[i].first, stacks[i].last);
    syscall(SYS_write, file, text, length);
  }
  int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
  syscall(SYS_write, file, text, length);
}

/* Notes the command's functions that led to this call. What noting itself calls is not noted. */
static void note(long number) {
  void *frames[FRAMES];
  counting = 1;
  int depth = backtrace(frames, FRAMES);
  counting = 0;
  unsigned long hash = 14695981039346656037u;
  for (int i = 0; i < depth; i++) {
    unsigned long address = (unsigned long)frames[i];
    if (address >= code_begin && address < code_end) hash = (hash ^ (address - code_begin)) * 1099511628211u;
  }
  hash += !hash;
  pthread_mutex_lock(&stacks_lock);
  size_t place = (hash >> 32) % STACKS;
  while (stacks[place].hash && stacks[place].hash != hash) place = (place + 1) % STACKS;
  if (!stacks[place].hash) {
    if (++stack_count == STACKS) abort();
    stacks[place].hash = hash, stacks[place].first = number;
  }
  stacks[place].last = number;
  pthread_mutex_unlock(&stacks_lock);
}

/* Whether this call fails. */
static int hit(enum call which) {
  if (which != call || !atomic_load(&started) || counting) return 0;
  long number = atomic_fetch_add(&calls, 1) + 1;
  if (count_to) note(number);
  return at && (stays ? number >= at : number == at);
}

sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
  if (number == SIGABRT) atomic_store(&started, 1);
  return sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

static void *refused(void) { errno = ENOMEM; return NULL; }
void *malloc(size_t size) { return hit(ALLOC) ? refused() : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return hit(ALLOC) ? refused() : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return hit(ALLOC) ? refused() : __libc_realloc(old, size); }
void *memalign(size_t to, size_t size) { return hit(ALLOC) ? refused() : __libc_memalign(to, size); }
void *aligned_alloc(size_t to, size_t size) { return memalign(to, size); }
int posix_memalign(void **place, size_t to, size_t size) {
  void *found = memalign(to, size);
  if (found) *place = found;
  return found ? 0 : ENOMEM;
}

/* Opens what is not only looked at: too many files are open. */
static int opened(int folder, const char *path, int flags, va_list more) {
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  if (hit(OPEN)) { errno = EMFILE; return -1; }
  return syscall(SYS_openat, folder, path, flags, mode);
}
#define OPENS(name, parameters, folder) \
  int name parameters { \
    va_list more; \
    va_start(more, flags); \
    int file = opened(folder, path, flags, more); \
    va_end(more); \
    return file; \
  }
OPENS(open, (const char *path, int flags, ...), AT_FDCWD)
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENS(openat, (int folder, const char *path, int flags, ...), folder)
OPENS(openat64, (int folder, const char *path, int flags, ...), folder)

/* The allocator and the threads' stacks do not come here: they call the kernel. */
void *mmap64(void *at, size_t size, int may, int flags, int file, off64_t from) {
  if (hit(MAP)) { errno = ENOMEM; return MAP_FAILED; }
  return (void *)syscall(SYS_mmap, at, size, may, flags, file, from);
}
void *mmap(void *at, size_t size, int may, int flags, int file, off_t from) {
  return mmap64(at, size, may, flags, file, from);
}

/* How a read or a write fails: the bytes that are left to do, or -1. */
static ssize_t failing(enum call which, size_t size) {
  if (!hit(which)) return (ssize_t)size;
  switch (way) {
  case SHORT: return size > 1 ? 1 : (ssize_t)size;
  case INTERRUPTED: errno = EINTR; return -1;
  default: errno = which == WRITE ? ENOSPC : EIO; return -1;
  }
}

ssize_t read(int file, void *to, size_t size) {
  ssize_t left = failing(READ, size);
  return left < 0 ? -1 : syscall(SYS_read, file, to, left);
}
ssize_t pread64(int file, void *to, size_t size, off64_t from) {
  ssize_t left = failing(READ, size);
  return left < 0 ? -1 : syscall(SYS_pread64, file, to, left, from);
}
ssize_t readv(int file, const struct iovec *to, int parts) {
  return parts ? read(file, to->iov_base, to->iov_len) : 0;
}
/* What is said on standard error is what the test looks at. */
ssize_t write(int file, const void *from, size_t size) {
  ssize_t left = file == 2 ? (ssize_t)size : failing(WRITE, size);
  return left < 0 ? -1 : syscall(SYS_write, file, from, left);
}
ssize_t pwrite64(int file, const void *from, size_t size, off64_t to) {
  ssize_t left = failing(WRITE, size);
  return left < 0 ? -1 : syscall(SYS_pwrite64, file, from, left, to);
}
ssize_t writev(int file, const struct iovec *from, int parts) {
  return parts ? write(file, from->iov_base, from->iov_len) : 0;
}

static int broken(void) { errno = EIO; return -1; }
int fsync(int file) { return hit(SYNC) ? broken() : syscall(SYS_fsync, file); }
int fdatasync(int file) { return hit(SYNC) ? broken() : syscall(SYS_fdatasync, file); }
int rename(const char *from, const char *to) {
  return hit(RENAME) ? broken() : syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *with) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      dlsym(RTLD_NEXT, "pthread_create");
  return hit(THREAD) ? EAGAIN : real(thread, attributes, work, with);
}
