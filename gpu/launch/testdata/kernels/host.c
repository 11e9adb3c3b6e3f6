// Runs a test kernel compiled for x86-64: one fiber per work-item, a barrier
// goes back to the scheduler. Arguments: kernel, three groups, three block
// sizes, n, then the files of a, b and out; out is written back.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

int host_lid[3], host_group[3], host_size[3], host_groups[3];

typedef void kernel(const unsigned *, const unsigned *, unsigned *, unsigned);

enum { MAX = 1024, STACK = 64 << 10 };
static ucontext_t scheduler, fiber[MAX];
static int current, done[MAX];
static kernel *run;
static unsigned *data[3], n;

void host_barrier(void) {
  int me = current;
  swapcontext(&fiber[me], &scheduler);
}

static void entry(void) {
  run(data[0], data[1], data[2], n);
  done[current] = 1;
}

static void enter(int i) {
  current = i;
  host_lid[0] = i % host_size[0];
  host_lid[1] = i / host_size[0] % host_size[1];
  host_lid[2] = i / host_size[0] / host_size[1];
  swapcontext(&scheduler, &fiber[i]);
}

static long load(const char *path, unsigned **p) {
  FILE *f = fopen(path, "rb");
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  *p = malloc(size);
  size = fread(*p, 1, size, f);
  fclose(f);
  return size;
}

int main(int argc, char **argv) {
  run = (kernel *)dlsym(RTLD_DEFAULT, argv[1]);
  if (!run || argc != 12) return 2;
  for (int i = 0; i < 3; i++) host_groups[i] = atoi(argv[2 + i]), host_size[i] = atoi(argv[5 + i]);
  n = atoi(argv[8]);
  long size = 0;
  for (int i = 0; i < 3; i++) size = load(argv[9 + i], &data[i]);
  int items = host_size[0] * host_size[1] * host_size[2];
  char *stacks = malloc((size_t)items * STACK);
  for (host_group[2] = 0; host_group[2] < host_groups[2]; host_group[2]++)
    for (host_group[1] = 0; host_group[1] < host_groups[1]; host_group[1]++)
      for (host_group[0] = 0; host_group[0] < host_groups[0]; host_group[0]++) {
        for (int i = 0; i < items; i++) {
          done[i] = 0;
          getcontext(&fiber[i]);
          fiber[i].uc_stack.ss_sp = stacks + (size_t)i * STACK;
          fiber[i].uc_stack.ss_size = STACK;
          fiber[i].uc_link = &scheduler;
          makecontext(&fiber[i], entry, 0);
        }
        for (int left = items; left;)
          for (int i = 0; i < items; i++)
            if (!done[i]) {
              enter(i);
              left -= done[i];
            }
      }
  FILE *f = fopen(argv[11], "wb");
  fwrite(data[2], 1, size, f);
  return fclose(f);
}
