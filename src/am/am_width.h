/*
 * am_width.h
 *	  What is exported by the files of the access method that are compiled once
 *	  for each width: see type/width.h.
 */
#ifndef SIMHASH_AM_WIDTH_H
#define SIMHASH_AM_WIDTH_H

#include "type/width.h"

/* page.c */
#define hamming_check_tid WIDE(hamming_check_tid)
#define hamming_choose_cut WIDE(hamming_choose_cut)
#define hamming_corrupted WIDE(hamming_corrupted)
#define hamming_inner_child WIDE(hamming_inner_child)
#define hamming_inner_find WIDE(hamming_inner_find)
#define hamming_inner_insert WIDE(hamming_inner_insert)
#define hamming_inner_is_permutation WIDE(hamming_inner_is_permutation)
#define hamming_inner_key WIDE(hamming_inner_key)
#define hamming_inner_remove WIDE(hamming_inner_remove)
#define hamming_leaf_append WIDE(hamming_leaf_append)
#define hamming_leaf_change WIDE(hamming_leaf_change)
#define hamming_leaf_equal WIDE(hamming_leaf_equal)
#define hamming_leaf_fill WIDE(hamming_leaf_fill)
#define hamming_leaf_find WIDE(hamming_leaf_find)
#define hamming_leaf_match WIDE(hamming_leaf_match)
#define hamming_leaf_remove WIDE(hamming_leaf_remove)
#define hamming_page_check WIDE(hamming_page_check)
#define hamming_page_init WIDE(hamming_page_init)
#define hamming_page_merge WIDE(hamming_page_merge)
#define hamming_page_split WIDE(hamming_page_split)
#define hamming_separator WIDE(hamming_separator)

/* buffer.c */
#define hamming_fetch WIDE(hamming_fetch)
#define hamming_fetch_entries WIDE(hamming_fetch_entries)
#define hamming_pin_page WIDE(hamming_pin_page)
#define hamming_prefetch WIDE(hamming_prefetch)
#define hamming_read WIDE(hamming_read)
#define hamming_read_blocks WIDE(hamming_read_blocks)
#define hamming_read_fetched WIDE(hamming_read_fetched)

/* cache.c */
#define hamming_known_plan WIDE(hamming_known_plan)
#define hamming_measure WIDE(hamming_measure)
#define hamming_note_eviction WIDE(hamming_note_eviction)
#define hamming_open WIDE(hamming_open)
#define hamming_remember WIDE(hamming_remember)
#define hamming_remembered WIDE(hamming_remembered)

/* space.c */
#define hamming_claim_spare WIDE(hamming_claim_spare)
#define hamming_extend WIDE(hamming_extend)
#define hamming_find_spare WIDE(hamming_find_spare)
#define hamming_give_back WIDE(hamming_give_back)
#define hamming_is_free_page WIDE(hamming_is_free_page)

/* tree.c */
#define hamming_find WIDE(hamming_find)
#define hamming_lock_pinned WIDE(hamming_lock_pinned)
#define hamming_make_room WIDE(hamming_make_room)
#define hamming_merge WIDE(hamming_merge)
#define hamming_page_is_for WIDE(hamming_page_is_for)
#define hamming_pin WIDE(hamming_pin)
#define hamming_release_pinned WIDE(hamming_release_pinned)

/* walk.c */
#define hamming_prefetch_leaf WIDE(hamming_prefetch_leaf)
#define hamming_read_ahead WIDE(hamming_read_ahead)
#define hamming_walk_distance WIDE(hamming_walk_distance)

/* path.c */
#define hamming_path_begin WIDE(hamming_path_begin)
#define hamming_path_end WIDE(hamming_path_end)
#define hamming_path_find WIDE(hamming_path_find)

/* wal.c */
#define hamming_log_changes WIDE(hamming_log_changes)

/* change.c */
#define hamming_insert WIDE(hamming_insert)

/* remove.c */
#define hamming_remove WIDE(hamming_remove)

/* plan.c */
#define hamming_plan WIDE(hamming_plan)

/* search.c */
#define hamming_search_begin WIDE(hamming_search_begin)
#define hamming_search_begin_nulls WIDE(hamming_search_begin_nulls)
#define hamming_search_end WIDE(hamming_search_end)
#define hamming_search_init WIDE(hamming_search_init)
#define hamming_search_lower_radius WIDE(hamming_search_lower_radius)
#define hamming_search_next WIDE(hamming_search_next)

/* nearest.c */
#define hamming_nearest_begin WIDE(hamming_nearest_begin)
#define hamming_nearest_end WIDE(hamming_nearest_end)
#define hamming_nearest_next WIDE(hamming_nearest_next)

/* scan.c */
#define hamming_begin_scan WIDE(hamming_begin_scan)
#define hamming_end_scan WIDE(hamming_end_scan)
#define hamming_get_bitmap WIDE(hamming_get_bitmap)
#define hamming_get_tuple WIDE(hamming_get_tuple)
#define hamming_rescan WIDE(hamming_rescan)

/* vacuum.c */
#define hamming_cleanup WIDE(hamming_cleanup)
#define hamming_vacuum WIDE(hamming_vacuum)

/* build.c */
#define hamming_build WIDE(hamming_build)
#define hamming_build_empty WIDE(hamming_build_empty)
#define hamming_build_together WIDE(hamming_build_together)

/* parallel.c */
#define hamming_parallel_begin WIDE(hamming_parallel_begin)
#define hamming_parallel_build_main WIDE(hamming_parallel_build_main)
#define hamming_parallel_delete WIDE(hamming_parallel_delete)
#define hamming_parallel_end WIDE(hamming_parallel_end)
#define hamming_parallel_free_pages WIDE(hamming_parallel_free_pages)
#define hamming_parallel_gather WIDE(hamming_parallel_gather)
#define hamming_parallel_go_on WIDE(hamming_parallel_go_on)
#define hamming_parallel_join WIDE(hamming_parallel_join)
#define hamming_parallel_open WIDE(hamming_parallel_open)
#define hamming_parallel_split WIDE(hamming_parallel_split)

/* sort.c */
#define hamming_file_create WIDE(hamming_file_create)
#define hamming_file_delete WIDE(hamming_file_delete)
#define hamming_file_export WIDE(hamming_file_export)
#define hamming_file_open WIDE(hamming_file_open)
#define hamming_reader_begin WIDE(hamming_reader_begin)
#define hamming_reader_end WIDE(hamming_reader_end)
#define hamming_reader_next WIDE(hamming_reader_next)
#define hamming_run_get WIDE(hamming_run_get)
#define hamming_runs_add WIDE(hamming_runs_add)
#define hamming_runs_close WIDE(hamming_runs_close)
#define hamming_sorter_begin WIDE(hamming_sorter_begin)
#define hamming_sorter_end WIDE(hamming_sorter_end)
#define hamming_sorter_finish WIDE(hamming_sorter_finish)
#define hamming_sorter_make_room WIDE(hamming_sorter_make_room)
#define hamming_sorter_read WIDE(hamming_sorter_read)
#define hamming_sorter_restart WIDE(hamming_sorter_restart)

/* radix.c */
#define hamming_radix_sort WIDE(hamming_radix_sort)

/* write.c */
#define hamming_pages_log WIDE(hamming_pages_log)
#define hamming_write_page WIDE(hamming_write_page)
#define hamming_writer_add WIDE(hamming_writer_add)
#define hamming_writer_add_leaves WIDE(hamming_writer_add_leaves)
#define hamming_writer_begin WIDE(hamming_writer_begin)
#define hamming_writer_end WIDE(hamming_writer_end)

/* cost.c */
#define hamming_cost_estimate WIDE(hamming_cost_estimate)

/* stats.c */
#define hamming_read_stats WIDE(hamming_read_stats)

/* check.c */
#define hamming_check WIDE(hamming_check)

/* routines.c */
#define hamming_routines WIDE(hamming_routines)

#endif							/* SIMHASH_AM_WIDTH_H */
