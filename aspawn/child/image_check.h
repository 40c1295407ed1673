/* SPDX-License-Identifier: MIT */
#ifndef CHILD_IMAGE_CHECK_H
#define CHILD_IMAGE_CHECK_H

#include "../action/prepared.h"

/* In the child: true if an exec would change nothing that the actions can see. Stores what the image
 * restores. */
bool aspw_image_check(struct prepared *prepared);

#endif
