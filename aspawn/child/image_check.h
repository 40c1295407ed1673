/* SPDX-License-Identifier: MIT */
#ifndef CHILD_IMAGE_CHECK_H
#define CHILD_IMAGE_CHECK_H

#include "../action/prepared.h"

/* True if an exec would change nothing that the actions can see. Stores what the image restores.
 * Only the child calls this. */
bool aspw_image_check(struct prepared *prepared);

#endif
