/** Ends an orphan (argument 1, JSON) from wherever it is started, and prints the answer. */
import { endOrphan } from '../../../../lanes/work/process-tree/orphans.ts';

process.stdout.write(await endOrphan(JSON.parse(process.argv[2] ?? '')));
