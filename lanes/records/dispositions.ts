/** Dispositions: the verdicts on criteria, who gave them and on what evidence. */
import { z } from 'zod';
import { actorSchema, atMsSchema } from './common.ts';

/** The dispositions that let an issue close. */
export const closingKinds = ['met', 'waived', 'moved', 'superseded', 'not_applicable', 'withdrawn'] as const;
/** The dispositions that keep it open. */
export const openKinds = ['not_met', 'partial', 'blocked', 'cannot_tell'] as const;

export const dispositionKindSchema = z.enum([...closingKinds, ...openKinds]);
export type DispositionKind = z.infer<typeof dispositionKindSchema>;

const shortText = z.string().max(4_000);

/** What supports a disposition, as the agent or a person names it. */
export const evidenceSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('check'), name: z.string().min(1).max(100) }),
  z.strictObject({
    kind: z.literal('file'),
    path: z.string().min(1).max(1_000),
    contains: shortText.optional(),
  }),
  z.strictObject({ kind: z.literal('commit'), sha: z.string().regex(/^[0-9a-f]{7,64}$/i) }),
  z.strictObject({ kind: z.literal('url'), url: z.string().min(1).max(2_000) }),
]);
export type Evidence = z.infer<typeof evidenceSchema>;

/** Evidence with its standing: `verified` by the host, or only `asserted`. `how` says what was looked at, or why not. */
export const weighedEvidenceSchema = z.strictObject({
  evidence: z.union([evidenceSchema, z.strictObject({ kind: z.literal('statement'), text: shortText })]),
  standing: z.enum(['verified', 'asserted']),
  how: z.string().max(1_000),
});
export type WeighedEvidence = z.infer<typeof weighedEvidenceSchema>;

export const dispositionSchema = z.strictObject({
  criterion: z.string(),
  /** The criterion's revision that was judged. */
  revision: z.int().positive(),
  kind: dispositionKindSchema,
  by: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('agent'), run: z.int().positive() }),
    z.strictObject({ kind: z.literal('person'), person: actorSchema }),
  ]),
  reason: shortText.optional(),
  evidence: z.array(weighedEvidenceSchema).max(50),
  /** For `moved` an issue (`#12`); for `superseded` a criterion id or an issue. */
  target: z.string().max(200).optional(),
  atMs: atMsSchema,
});
export type Disposition = z.infer<typeof dispositionSchema>;

/** Verdicts by criterion id. */
export const dispositionsSchema = z.record(z.string(), dispositionSchema);
export type Dispositions = z.infer<typeof dispositionsSchema>;
