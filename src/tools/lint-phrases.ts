/**
 * A phrase that speaks to the model and not about the tool, and what it tries. Every pattern has bounded repeats, so it is linear.
 * A group in it names a tool; the phrase is harmless when the tool is the server's own.
 */
export interface LintPhrase {
  readonly pattern: RegExp;
  readonly what: string;
}

const WORD_GAP = String.raw`[^.!?\n]{0,60}`;

/** Phrases of injected instructions, in the languages the kit's users meet most. */
export const PHRASES: readonly LintPhrase[] = [
  phrase(
    "asks to forget earlier rules",
    String.raw`\b(?:ignore|forget|disregard|override|overrule)\b${WORD_GAP}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|safety)\b`,
  ),
  phrase(
    "gives orders to the assistant",
    String.raw`\b(?:assistants?|ai|llm|agents?|chatbot|claude|chatgpt)(?:\s+model)?\s*(?:must|should|shall|has to|have to|needs? to|is required to)\s+(?:always |never |first |now |also |not |silently )?(?:add|include|send|call|read|pass|use|run|execute|invoke|append|attach|tell|mention|copy|forward|choose|prefer|ignore|open|fetch|write|give|reply|respond|ask)\b`,
  ),
  phrase("gives orders to the assistant", String.raw`\b(?:note|notice|reminder|hint|order) (?:to|for) (?:the )?(?:assistant|ai|llm|agent|model)\b`),
  phrase(
    "hides something from the user",
    String.raw`\b(?:(?:do not|don'?t|never|must not|should not)\s+(?:tell|mention|inform|reveal|notify|alert|disclose)|without\s+(?:telling|mentioning|informing|revealing|notifying|asking|alerting))\b${WORD_GAP}\b(?:users?|human|person|operator|anyone)\b`,
  ),
  phrase(
    "gives the assistant another role",
    String.raw`\byou are now\b[^.!?\n]{0,40}\b(?:mode|admin|administrator|root|unrestricted|free|assistant|agent)\b|\byou are no longer (?:bound|restricted|limited|subject|required)\b|\bfrom now on,? you\b|\bact as (?:if you|an? (?:admin|root|unrestricted))`,
  ),
  phrase(
    "switches checks off",
    String.raw`\b(?:skip|bypass|suppress|disable|turn off)\b[^.!?\n]{0,30}\b(?:confirmations|approvals|consent|(?:permission|safety|security) (?:checks|prompts))\b|\b(?:skip|bypass|suppress|disable)\b[^.!?\n]{0,20}\b(?:all|any|every|user'?s?|human)\b[^.!?\n]{0,20}\b(?:confirmation|approval)\b`,
  ),
  phrase(
    "puts itself in front of other tools",
    String.raw`\b(?:before|instead of|rather than)\s+(?:(?:using|calling|running|invoking|trying)\s+)?(?:any|all|every|the)?\s*others?(?:\s+(?:tools?|servers?|functions?)|(?=\s*[).,;!]))`,
  ),
  phrase(
    "puts itself in front of other tools",
    String.raw`\balways (?:choose|use|call|prefer|pick|select|run|invoke) (?:this|it)(?: (?:tool|one|function|server))?(?=\s*(?:$|[.,;!)]|-->|\b(?:for|when|before|instead|first|over)\b))|\b(?:never|do not|don'?t) (?:use|call) (?:any |the )?other (?:tools?|servers?)\b`,
  ),
  phrase(
    "asks for a secret",
    String.raw`\b(?:ask|prompt|request)\s+(?:the |your )?(?:users?|human|person|customer|them|him|her)\b${WORD_GAP}\b(?:password|passcode|passphrase|credit card|pin code|seed phrase|private key|one-time code|2fa code|secret key)\b`,
  ),
  phrase(
    "asks for secret files or text",
    String.raw`\b(?:read|open|cat|send|upload|attach|forward|leak|exfiltrate|e-?mail|include|pass|copy|print|reveal|show)\b${WORD_GAP}(?:~\/\.|\bid_rsa\b|\bid_ed25519\b|\.ssh\b|\.env\b|\/etc\/(?:passwd|shadow)\b|\.aws\b|\bprivate keys?\b)`,
  ),
  phrase(
    "asks for secret files or text",
    String.raw`\b(?:send|reveal|print|leak|show|output|repeat|include|append|attach)\b[^.!?\n]{0,30}\b(?:your|the|every|all)\b[^.!?\n]{0,20}\bsystem (?:prompt|message|instructions?|rules?)\b`,
  ),
  phrase(
    "asks for the conversation",
    String.raw`\b(?:add|append|include|attach|pass|send|forward|copy|put|upload|e-?mail|give)\b${WORD_GAP}\b(?:full|entire|whole|complete|all (?:of )?the|previous|prior|current)\s+(?:chat|conversation|context|chat history|message history|messages|dialog(?:ue)?|transcript)\b`,
  ),
  phrase(
    "imitates a message of the system",
    String.raw`<important>|<\/(?:important|system|instructions?|assistant|override)>|<\|(?:im_start|im_end|system|user|assistant|endoftext)[^>]{0,20}\|>|\[\/?(?:INST|SYSTEM|SYS)\]|<<SYS>>|^#{1,6} ?(?:system|instructions? (?:for|to) (?:the )?(?:assistant|ai|model)):?|^(?:system|assistant) ?: ?(?:you|ignore|always|never|from now|the user)\b`,
    "im",
  ),
  phrase(
    "calls a tool of another server",
    String.raw`\b(?:then|now|next|first|also|must|please|and)\s+(?:call|run|invoke|execute|use)\s+([a-z0-9-]{1,64}__[a-z0-9_-]{1,64})`,
  ),
  phrase(
    "hides text in a comment",
    String.raw`<!--|\[\/\/\]: ?#|\[comment\]: ?<|<[a-z]{1,12}[^>]{0,80}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0)`,
  ),
  phrase("asks to forget earlier rules", String.raw`(?:忽略|无视|忘记|忘掉|不要理会|跳过)[^。！？\n]{0,20}(?:指令|指示|提示词|规则|说明|限制|约束)`),
  phrase(
    "hides something from the user",
    String.raw`(?:不要|不得|不能|别|勿|禁止|无需|不必)(?:告诉|告知|通知|提醒|询问|让)[^。！？\n]{0,6}(?:用户|使用者|对方|人类)|(?:不要|别)[^。！？\n]{0,6}(?:用户|使用者)知道`,
  ),
  phrase(
    "puts itself in front of other tools",
    String.raw`(?:调用|使用|运行|执行)(?:任何|所有|其他|其它|别的)[^。！？\n]{0,8}工具(?:之前|前)|(?:总是|始终|一律|必须)(?:优先)?(?:使用|选择|调用)(?:本|此|这个)工具|而不是其[他它]工具`,
  ),
  phrase(
    "gives orders to the assistant",
    String.raw`(?:助手|模型|智能体|AI|大模型)(?:必须|务必|应当|应该|需要)[^。！？\n]{0,12}(?:发送|调用|读取|执行|附上|附加|加入|包含|转发|忽略|告诉)`,
  ),
  phrase("switches checks off", String.raw`(?:跳过|绕过|省略|关闭)[^。！？\n]{0,10}(?:确认|审批|批准|授权|安全检查)`),
  phrase("gives the assistant another role", String.raw`你现在(?:是|处于|进入)|从现在起,?，?你`),
  phrase(
    "asks for secret files or text",
    String.raw`(?:读取|发送|上传|附上|转发|打印|泄露)[^。！？\n]{0,20}(?:~\/\.|\.ssh|\.env|私钥|系统提示|密码|聊天记录|完整对话)`,
  ),
  phrase(
    "asks to forget earlier rules",
    String.raw`\b(?:ignoriere|vergiss|missachte)\b${WORD_GAP}\b(?:anweisung|regel|vorgabe)|\b(?:ignorez?|oubliez?)\b${WORD_GAP}\b(?:instructions?|consignes?|règles?)|\b(?:ignora|olvida)\b${WORD_GAP}\b(?:instrucci|reglas?)|(?:игнорируй|забудь)${WORD_GAP}(?:инструкци|правил|указани)|(?:以前|これまで|上記)の(?:指示|命令|ルール)を(?:無視|忘れ)`,
  ),
];

function phrase(what: string, source: string, flags = "i"): LintPhrase {
  return { what, pattern: new RegExp(source, flags) };
}
