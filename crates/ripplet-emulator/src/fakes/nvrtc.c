// NVRTC that compiles nothing, for tests: the machine code of any text is the same few bytes, which
// `driver.c` loads. Environment variables set its behaviour:
//
// FAKE_NVRTC  major version (13)
// FAKE_LOG    if set, no program compiles, and this is the log
#include <stdlib.h>
#include <string.h>

enum { OK = 0, COMPILATION = 6 };

static const char CODE[] = "\177ELF of nothing";

static const char *log_text(void) {
    const char *log = getenv("FAKE_LOG");
    return log ? log : "";
}

unsigned nvrtcVersion(int *major, int *minor) {
    const char *version = getenv("FAKE_NVRTC");
    return *major = version ? atoi(version) : 13, *minor = 0, OK;
}
unsigned nvrtcGetNumSupportedArchs(int *count) { return *count = 1, OK; }
unsigned nvrtcGetSupportedArchs(int *architectures) { return architectures[0] = 90, OK; }
unsigned nvrtcCreateProgram(void **program, const char *text, const char *name, int headers,
                            const char *const *contents, const char *const *names) {
    (void)text, (void)name, (void)headers, (void)contents, (void)names;
    return *program = malloc(1), OK;
}
unsigned nvrtcCompileProgram(void *program, int count, const char *const *options) {
    (void)program, (void)count, (void)options;
    return getenv("FAKE_LOG") ? COMPILATION : OK;
}
unsigned nvrtcDestroyProgram(void **program) { return free(*program), OK; }
unsigned nvrtcGetCUBINSize(void *program, size_t *size) { (void)program; return *size = sizeof CODE, OK; }
unsigned nvrtcGetCUBIN(void *program, char *code) { (void)program; return memcpy(code, CODE, sizeof CODE), OK; }
unsigned nvrtcGetPTXSize(void *program, size_t *size) { return nvrtcGetCUBINSize(program, size); }
unsigned nvrtcGetPTX(void *program, char *code) { return nvrtcGetCUBIN(program, code); }
unsigned nvrtcGetProgramLogSize(void *program, size_t *size) { (void)program; return *size = strlen(log_text()) + 1, OK; }
unsigned nvrtcGetProgramLog(void *program, char *log) { (void)program; return strcpy(log, log_text()), OK; }
