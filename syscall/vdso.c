/* SPDX-License-Identifier: MIT */
/* Searches the symbols of the vDSO's ELF image, only where pointers have 64 bits. There the
 * functions of the image are called as any in C, and times have the layout of struct
 * psys_timespec. */
#include <syscall/string.h>
#include <syscall/syscall.h>
#include <syscall/vdso.h>

#include <stdbool.h>

enum {
	AUXV_WORDS = 128,
	AT_SYSINFO_EHDR = 33,
	PT_LOAD = 1,
	PT_DYNAMIC = 2,
	DT_STRTAB = 5,
	DT_SYMTAB = 6,
	DT_STRSZ = 10,
};

/* These are the members of elf(5) that are needed here. */
struct vdso_header {
	unsigned char ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum;
};

struct vdso_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

struct vdso_dynamic {
	uint64_t tag, value;
};

struct vdso_symbol {
	uint32_t name;
	unsigned char info, other;
	uint16_t section;
	uint64_t value, size;
};

struct vdso {
	const char *base; /* what its addresses are relative to */
	const struct vdso_dynamic *dynamic;
	const char *strings;
	const struct vdso_symbol *symbols;
	uint64_t strings_size;
};

/* Returns the image's address, or 0 if the address is unknown. prctl() is for a root without /proc
 * (Linux 6.4). */
static uintptr_t find_vdso(void)
{
	uintptr_t words[AUXV_WORDS];
	int fd = psys_openat(PSYS_AT_FDCWD, "/proc/self/auxv", PSYS_O_RDONLY | PSYS_O_CLOEXEC, 0);
	long size = psys_read(fd, words, sizeof words); /* fails if fd is negative */

	psys_close(fd);
	if (size <= 0)
		size = psys_prctl(PSYS_PR_GET_AUXV, (uintptr_t)words, sizeof words, 0, 0);
	if (size > (long)sizeof words) /* of all entries */
		size = sizeof words;
	const size_t count = size < 0 ? 0 : (size_t)size;
	for (size_t i = 0; (i + 2) * sizeof *words <= count; i += 2)
		if (words[i] == AT_SYSINFO_EHDR)
			return words[i + 1];
	return 0;
}

static void read_segments(struct vdso *vdso, const struct vdso_header *header)
{
	const char *image = (const char *)header;
	const struct vdso_segment *segments = (const void *)(image + header->phoff);

	for (unsigned i = 0; i < header->phnum; i++) {
		if (segments[i].type == PT_LOAD && !vdso->base)
			vdso->base = image + segments[i].offset - segments[i].vaddr;
		if (segments[i].type == PT_DYNAMIC)
			vdso->dynamic = (const void *)(image + segments[i].offset);
	}
}

/* Some architectures relocate the addresses of the dynamic section. */
static const void *address_in(const struct vdso *vdso, uint64_t value)
{
	return value < (uintptr_t)vdso->base ? vdso->base + value : (const void *)(uintptr_t)value;
}

static void read_dynamic(struct vdso *vdso)
{
	for (const struct vdso_dynamic *dynamic = vdso->dynamic; dynamic->tag; dynamic++) {
		if (dynamic->tag == DT_STRTAB)
			vdso->strings = address_in(vdso, dynamic->value);
		if (dynamic->tag == DT_SYMTAB)
			vdso->symbols = address_in(vdso, dynamic->value);
		if (dynamic->tag == DT_STRSZ)
			vdso->strings_size = dynamic->value;
	}
}

/* Returns false if no image can be read. */
static bool read_image(struct vdso *vdso)
{
	const uintptr_t image = sizeof image == 8 ? find_vdso() : 0;

	psys_memset(vdso, 0, sizeof *vdso);
	if (!image)
		return false;
	read_segments(vdso, (const void *)image);
	if (!vdso->base || !vdso->dynamic)
		return false;
	read_dynamic(vdso);
	return vdso->symbols;
}

/* Linkers put the strings right behind the symbols, whose number no entry says. */
static void *find_symbol(const struct vdso *vdso, const char *name)
{
	for (const struct vdso_symbol *symbol = vdso->symbols;
	     (const char *)(symbol + 1) <= vdso->strings; symbol++)
		if (symbol->section && symbol->name < vdso->strings_size &&
		    !psys_strcmp(vdso->strings + symbol->name, name))
			return (void *)(uintptr_t)(vdso->base + symbol->value);
	return NULL;
}

void *psys_vdso_find(const char *name)
{
	struct vdso vdso;

	return *name && read_image(&vdso) ? find_symbol(&vdso, name) :
					    NULL; /* sections have no name */
}

psys_clock_fn psys_vdso_clock(void)
{
	struct psys_timespec time;
	struct vdso vdso;

	if (!read_image(&vdso))
		return NULL;
	void *found = find_symbol(&vdso, "__vdso_clock_gettime");
	if (!found)
		found = find_symbol(&vdso, "__kernel_clock_gettime");
	const psys_clock_fn clock = (psys_clock_fn)(uintptr_t)found;
	return clock && clock(PSYS_CLOCK_MONOTONIC, &time) == 0 ? clock : NULL;
}
